"""The speed of memory: the keys and values of the problem, summed in the fastest of three ways."""

from __future__ import annotations

import threading

import torch

from bench.peers.tensors import product
from bench.problem import Arrays, Problem, Way


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    k, v = arrays.k, arrays.v
    tensors = torch.from_numpy(k), torch.from_numpy(v)

    def beside() -> None:
        other = threading.Thread(target=k.sum)
        other.start()
        v.sum()
        other.join()

    calls = {
        "NumPy, one after the other": lambda: (k.sum(), v.sum()),
        "NumPy, two threads": beside,
        "torch": lambda: [x.sum() for x in tensors],
    }
    before = product(problem)
    return [Way(name, call, lambda _: {}, before) for name, call in calls.items()]

"""What a call costs that has next to nothing to compute: the way to the kernel, warm and with cold caches."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import eyeline as el

SHAPE = (1, 2, 16, 32)
#: What is given, and the most microseconds that we aim at, warm and with cold caches.
TARGETS = {"arrays": (10, 40), "tensors": (15, 60)}


def measure(given: str, calls: int = 2000) -> dict[str, Any]:
    """The median time of one call at (1, 2, 16, 32) in microseconds, without gradients.

    Warm: one call after another. Cold: before each call (a tenth as many) 64 MB are read and written, more than caches
    hold.
    """
    x: Any = np.random.default_rng(0).standard_normal(SHAPE, dtype=np.float32)
    if given == "tensors":
        x = torch.from_numpy(x)
    large = np.zeros(2**24, np.float32)
    warm = _median(lambda: el.attention(x, x, x), calls, lambda: None)
    cold = _median(lambda: el.attention(x, x, x), -(-calls // 10), lambda: np.add(large, 1, out=large))
    return {"given": given, "sizes": SHAPE, "warm": round(warm, 1), "cold": round(cold, 1), "at_most": TARGETS[given]}


def _median(call: Callable[[], object], calls: int, before: Callable[[], object]) -> float:
    times = []
    for _ in range(calls):
        before()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6

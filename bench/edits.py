"""Edited attention beside unedited, of one head and of all: `python -m bench.edits [TOKENS]`.

Turn by turn in one process, at 12 heads of width 64 and 8,192 tokens unless it says otherwise, causal and not. The
fastest of each side counts; the ratio is to be at most 1.1.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import eyeline as el
from eyeline import edits as ed

HEADS, WIDTH, TOKENS, TURNS = 12, 64, 8192, 5
AT_MOST = 1.1


def edits_of(head: int | None, tokens: int) -> dict[str, ed.Edit]:
    """The edits that are measured, of one head or of all, by name."""
    middle, quarter = tokens // 2, slice(tokens // 4, tokens // 2)
    return {
        "gate": ed.Gate(head=head, by=0.5),
        "one edge cut": ed.Cut(head=head, queries=middle, keys=middle // 2),
        "a column cut": ed.Cut(head=head, keys=0),
        "every third column cut": ed.Cut(head=head, keys=slice(0, None, 3)),
        "uniform": ed.Uniform(head=head),
        "a rectangle reweighted": ed.Reweight(head=head, queries=slice(middle, None), keys=quarter, by=0.5),
        "all reweighted": ed.Reweight(head=head, by=0.5),
    }


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(arguments: list[str]) -> None:
    tokens = int(arguments[0]) if arguments else TOKENS
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, HEADS, tokens, WIDTH), np.float32) for _ in range(3))
    most = 0.0
    print(f"{tokens} tokens, {HEADS} heads of width {WIDTH}, float32: edited / unedited, fastest of {TURNS} turns")
    for mask in (None, el.Causal()):
        for head in (3, None):
            for name, edit in edits_of(head, tokens).items():
                call = partial(el.attention, q, k, v, mask=mask)
                turns = [(seconds(call), seconds(partial(call, edits=edit))) for _ in range(TURNS)]
                plain, edited = map(min, zip(*turns, strict=True))
                ratio = edited / plain
                most = max(most, ratio)
                where = "all heads" if head is None else "one head"
                print(f"{mask!r:10} {name:24} {where:10} {ratio:5.3f}  ({plain * 1e3:.0f} ms unedited)", flush=True)
    print(f"at most {most:.3f}; aim: {AT_MOST}")


if __name__ == "__main__":
    main(sys.argv[1:])

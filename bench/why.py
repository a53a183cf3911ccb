"""A score of a long text, split, beside a forward pass: `python -m bench.why [FILE]`.

8,192 tokens through smollm2, alone on two threads: the forward pass; recording it; and `why` of the last layer, for
several pairs of tokens. The pass before the first isn't timed: it loads kernels and converts weights. The aim is that
recording and splitting together take at most two forward passes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import eyeline as el
from bench.cases import THREADS
from bench.long_text import CONSTITUTION, TOKENS, WARM, ids_of
from eyeline.models import Tokens, load
from eyeline.traces import Keep
from eyeline.traces.recording import record_tokens

TURNS = 3
PAIRS = 8


def main(arguments: list[str]) -> None:
    path = Path(arguments[0]) if arguments else CONSTITUTION
    if not path.exists():
        sys.exit(f"there is no {path}; name a text file of {TOKENS} tokens or more, or install the package miscfiles")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    el.set_threads(THREADS)
    model = load("smollm2")
    (ids,) = ids_of(model, path)
    text = model.text(ids)
    tokens = Tokens(text, ids.tolist(), [""] * len(ids), [(0, len(text))] * len(ids), [False] * len(ids))

    def forward() -> None:
        for _ in model.layers([ids]):
            pass

    def record() -> el.Trace:
        return record_tokens(model, tokens, keep=Keep())

    for _ in model.layers([ids[:WARM]]):
        pass
    rng = np.random.default_rng(0)
    passes, records, splits, worst = [], [], [], (0.0, 0.0)
    for _ in range(TURNS):
        passes.append(_timed(forward)[0])
        seconds, trace = _timed(record)
        records.append(seconds)
        for _ in range(PAIRS):
            i = int(rng.integers(len(ids)))
            j, head = int(rng.integers(i + 1)), int(rng.integers(model.config.heads))
            seconds, found = _timed(
                lambda trace=trace, i=i, j=j, head=head: el.why(trace, model.config.layers - 1, head, i, j)
            )
            splits.append(seconds)
            sums = abs(found.table.sum() - found.score) / np.abs(found.table).sum()
            run = abs(found.score - found.run_score) / (1 + abs(found.run_score))
            worst = (max(worst[0], float(sums)), max(worst[1], float(run)))
    one, recorded, split = map(statistics.median, (passes, records, splits))
    print(f"{path}: {len(ids)} tokens through smollm2 on {THREADS} threads, float32")
    print(f"forward pass {one:.2f} s; recording {recorded:.2f} s; why of L{model.config.layers - 1} {split:.2f} s")
    print(f"recording and why: {(recorded + split) / one:.2f} forward passes; why alone: {split / one:.3f}")
    print(f"terms from the score: {worst[0]:.1e} of their sizes; score from the run's: {worst[1]:.1e} of 1 + its size")


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


if __name__ == "__main__":
    main(sys.argv[1:])

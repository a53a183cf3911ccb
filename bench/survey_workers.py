"""The throughput of a survey in one process and on workers of Ray, once all of them run; docs/cluster.md has a table.

    python -m bench.survey_workers [DOCUMENTS]

The corpus is chapters of the King James Bible, as in `bench.surveys`. A rate is the tokens between the first block that
is done and the last, by the seconds between them, so that what a survey costs once isn't in it: starting, loading the
model, merging. The memory of a worker is its peak, as Linux counts it.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eyeline as el
from examples import corpora
from eyeline.surveys import survey
from eyeline.surveys.progress import Progress

#: The characters of a block: small, so that there are many in so short a corpus.
BLOCK = 1 << 14
SIDES: dict[str, dict[str, Any]] = {
    "one process, 1 thread": {"threads": 1},
    "one process, 2 threads": {"threads": 2},
    "Ray, 1 worker": {"on": "ray", "workers": 1},
    "Ray, 2 workers": {"on": "ray", "workers": 2},
}


def workers() -> list[tuple[int, float]]:
    """The peak memory of each of Ray's workers that runs, in MB, and the seconds of processor that it has used."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(b"ray::Worker"):
                megabytes = int(re.findall(r"VmHWM:\s+(\d+)", (folder / "status").read_text())[0]) // 1024
                ticks = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
                found.append((megabytes, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")))
        except (OSError, IndexError):
            continue
    return found


@dataclass(frozen=True)
class Point:
    """Where a survey is: its tokens, the time, the seconds of processor of its processes, and a worker's peak in MB."""

    tokens: int
    time: float
    processor: float
    megabytes: int


def measure(texts: list[str], threads: int = 2, **how: Any) -> tuple[float, float, int]:
    """Tokens a second, tokens a second of processor, and the largest peak of a worker in MB, 0 without workers."""
    seen: list[Point] = []

    def progress(record: Progress) -> None:
        if record.tokens > (seen[-1].tokens if seen else 0) and not record.note:
            there = workers()
            used = time.process_time() + sum(seconds for _, seconds in there)
            seen.append(Point(record.tokens, time.perf_counter(), used, max((size for size, _ in there), default=0)))

    el.set_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        survey(texts, out=Path(folder) / "survey", block=BLOCK, progress=progress, **how)
    el.set_threads(None)
    first, last = seen[0], seen[-1]
    tokens = last.tokens - first.tokens
    return tokens / (last.time - first.time), tokens / (last.processor - first.processor), last.megabytes


def main(count: int) -> None:
    """Print the rate of each side."""
    texts = [text for _, text in corpora.chosen(corpora.chapters(corpora.verses()), count)]
    for name, how in SIDES.items():
        rate, of_processor, megabytes = measure(texts, **how)
        memory = f", {megabytes:,} MB a worker" if megabytes else ""
        print(f"{name}: {rate:,.0f} tokens a second, {of_processor:,.0f} a second of processor{memory}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)

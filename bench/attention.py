"""Eyeline's `attention` beside torch's `scaled_dot_product_attention`: `python bench/attention.py`.

Both run in this process, turn by turn, two threads each. Before every turn both processors multiply numbers for some
milliseconds: the other's threads fall asleep meanwhile (OpenMP's keep spinning for a while after their work, and would
take a processor from whoever comes next), and the processors don't. A ratio is the median over
the pairs of turns. Beside each time stands the error against the float64 reference. Results go to bench/results/, one
file per processor; `bench/table.py` makes the README's table of them.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from peak import gigaflops, work

import eyeline as el
from eyeline import reference
from eyeline.kernels import machine, threads

THREADS = 2
BETWEEN = 3_000_000  # rounds of multiplying, about 10 ms
RESULTS = Path(__file__).with_name("results")
sdpa = torch.nn.functional.scaled_dot_product_attention


@dataclass
class Case:
    """One shape (batch, heads, n, d) and mask; `target` is what the ratio to torch should reach."""

    shape: tuple[int, int, int, int]
    target: float
    mask: el.Mask | None = None
    causal: bool = False  # torch's own flag, where it says the same
    turns: int = 25


def lengths() -> list[int]:
    return [int(n) for n in np.random.default_rng(0).integers(32, 513, 32)]


CASES = [
    Case((8, 12, 128, 64), 1.2, turns=51),
    Case((1, 12, 512, 64), 1.2, turns=51),
    Case((1, 12, 512, 32), 1.2, turns=51),
    Case((1, 12, 512, 64), 1.9, el.Causal(), causal=True, turns=51),
    Case((1, 12, 2048, 64), 1.15, turns=15),
    Case((1, 8, 8192, 64), 1.15, turns=7),
    Case((1, 8, 2048, 128), 1.1, turns=11),
    Case((1, 12, 2048, 64), 1.4, el.Causal(), causal=True, turns=15),
    Case((1, 12, 8192, 64), 20, el.Causal() & el.Window(before=255, after=0), turns=3),
    Case((32, 12, 512, 64), 2.5, el.Lengths(lengths()), turns=7),
]


def errors(case: Case, ours: np.ndarray, theirs: np.ndarray, arrays: list[np.ndarray]) -> dict[str, float]:
    """The largest and the root mean square error of each, over two heads of the first and of the last batch element.

    Rows that may look at nothing are left out: torch gives NaN there, or what its kernel left.
    """
    found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    batch, _, n, _ = case.shape
    rows = slice(0, None, max(1, n // 2048))
    allowed = None
    if case.mask is not None:
        allowed = case.mask.dense(n, batch=batch).reshape(-1, n, n)
    for b in sorted({0, batch - 1}):
        q, k, v = (x[b, :2] for x in arrays)
        seen = np.ones((len(range(n)[rows]), n), bool) if allowed is None else allowed[b, rows]
        truth = reference.steps(q[:, rows], k, v, mask=el.Dense(seen)).output
        for who, got in zip(found, (ours, theirs), strict=True):
            who.append((got[b, :2, rows] - truth)[:, seen.any(axis=1)].ravel())
    result = {}
    for name, parts in zip(("", "torch_"), found, strict=True):
        error = np.concatenate(parts)
        result[f"{name}largest_error"] = float(f"{np.abs(error).max():.1e}")
        result[f"{name}rms_error"] = float(f"{np.sqrt((error**2).mean()):.1e}")
    return result


def measure(case: Case, peak: float) -> dict[str, object]:
    batch, heads, n, d = case.shape
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(case.shape, dtype=np.float32) for _ in range(3)]
    tensors = [torch.from_numpy(x) for x in arrays]
    dense = None
    if case.mask is not None and not case.causal:
        dense = torch.from_numpy(case.mask.dense(n, batch=batch).copy())

    def ours() -> np.ndarray:
        return el.attention(*arrays, mask=case.mask)

    def theirs() -> torch.Tensor:
        return sdpa(*tensors, attn_mask=dense, is_causal=case.causal)

    found = errors(case, ours(), theirs().numpy(), arrays)
    times: dict[Callable[[], object], list[float]] = {ours: [], theirs: []}
    for turn in range(case.turns):
        for who in (ours, theirs) if turn % 2 else (theirs, ours):
            work(THREADS, BETWEEN)
            start = time.perf_counter()
            who()
            times[who].append(time.perf_counter() - start)
    done = statistics.median(times[ours])
    result: dict[str, object] = {
        "case": str(case.shape),
        "mask": "" if case.mask is None else "Lengths(32 to 512)" if batch == 32 else repr(case.mask),
        "milliseconds": round(done * 1e3, 3),
        "torch_milliseconds": round(statistics.median(times[theirs]) * 1e3, 3),
        "ratio": round(statistics.median(b / a for a, b in zip(times[ours], times[theirs], strict=True)), 3),
        "target": case.target,
        **found,
    }
    if case.mask is None:
        result["of_peak"] = round(4 * batch * heads * n * n * d / done / 1e9 / peak, 3)
    return result


def small_call() -> float:
    """Microseconds of one call at (1, 2, 16, 32), from start to end: the median of 2,000."""
    x = np.random.default_rng(0).standard_normal((1, 2, 16, 32), dtype=np.float32)
    times = []
    for _ in range(2000):
        start = time.perf_counter()
        el.attention(x, x, x)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def resident(which: str) -> float:
    """Megabytes of this process in memory: "VmRSS" now, or "VmHWM" at most since the mark was taken back."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


def extra_memory() -> float:
    """Megabytes that the process grew by at (1, 12, 16384, 64), beyond inputs and output. In a process of its own."""
    x = np.ones((1, 12, 16384, 64), np.float32)
    el.attention(x[:, :, :256], x[:, :, :256], x[:, :, :256])
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # takes the high-water mark back to now
    output = el.attention(x, x, x)
    return resident("VmHWM") - before - output.nbytes / 2**20


def main() -> None:
    threads.set_threads(THREADS)
    if "--memory" in sys.argv:
        print(extra_memory())
        return
    torch.set_num_threads(THREADS)
    peak = gigaflops(THREADS)
    print(f"peak {peak:.0f} GF/s on {THREADS} threads")
    if peak < 0.9 * THREADS * gigaflops(1):
        sys.exit("something else keeps a processor busy; nothing was measured")
    cases = []
    for case in CASES:
        cases.append(measure(case, peak))
        print("  ".join(f"{key} {value}" for key, value in cases[-1].items()), flush=True)
    memory = subprocess.run([sys.executable, __file__, "--memory"], capture_output=True, text=True, check=True).stdout
    here = machine.target()
    result = {
        "processor": here.cpu,
        "vector_bits": here.bits,
        "threads": THREADS,
        "peak_gigaflops": round(peak, 1),
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("eyeline", "numpy", "numba", "torch")},
        },
        "cases": cases,
        "small_call_microseconds": round(small_call(), 1),
        "extra_memory_megabytes": round(float(memory), 1),
    }
    print({key: result[key] for key in ("small_call_microseconds", "extra_memory_megabytes")})
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{here.cpu}-{here.bits}.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

import eyeline as el
from eyeline.kernels.machine import target


def same_bits(got: np.ndarray, want: np.ndarray) -> None:
    """Fails unless both hold the same bits, and says where not: pytest's own comparison of long bytes takes minutes."""
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    bits = f"u{got.dtype.itemsize}"
    differs = np.ascontiguousarray(got).view(bits) != np.ascontiguousarray(want).view(bits)
    if differs.any():
        at = tuple(int(i[0]) for i in np.nonzero(differs))
        raise AssertionError(
            f"{differs.sum()} of {differs.size} numbers differ, the first at {at}: {got[at]!r}, not {want[at]!r}"
        )


def same_sight(got: el.Observation, want: el.Observation) -> None:
    """Fails unless both saw the same, to the bit."""
    same_bits(got.output, want.output)
    same_bits(got.lse, want.lse)
    assert (el.Weights in got) == (el.Weights in want)
    if el.Weights in want:
        same_bits(got.weights, want.weights)


def same_at_any_vector_width(code: str) -> None:
    """Fails unless a program, which prints a digest of its results, prints the same with vectors of every width."""
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "EYELINE_VECTOR_BITS": str(bits)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for bits in (512, 256, 128)
        if bits <= target().bits
    }
    assert len(digests) == 1

"""The share of the matrix that a mask allows, and the mask drawn in characters."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.functions import blocks
from eyeline.masks.lowered import LoweredMask
from eyeline.masks.shape import AttentionShape

_SHADES = "·░▒▓█"
#: For a terminal without these characters.
_ASCII_SHADES = ".-=%#"


def share(lowered: LoweredMask, shape: AttentionShape) -> float:
    """The share of the matrix that is allowed, from 0 to 1; 0 for an empty matrix."""
    B, H, N, M = shape.shape
    if not B * H * N * M:
        return 0.0
    if lowered.allowed is None and not lowered.functions:
        return float((lowered.bounds[..., 1] - lowered.bounds[..., 0]).sum(axis=3).mean() / M)
    seen, of = 0, 0
    for _, block in blocks(lowered, shape):
        seen, of = seen + int(np.count_nonzero(block)), of + block.size
    return seen / of


def draw(lowered: LoweredMask, shape: AttentionShape, at: tuple[int, int], rows: int, columns: int) -> str:
    """The matrix of batch element and head `at`, in at most `rows` lines of at most `columns` characters."""
    _, _, N, M = shape.shape
    if not N * M:
        return ""
    # A character is half as wide as it is high: a small matrix gets two for each key.
    wide = 2 if columns >= 2 * M else 1
    down, across = edges(N, rows), edges(M, columns // wide)
    counts = _counts(lowered, shape, at, down, across)
    shares = counts / (np.diff(down)[:, None] * np.diff(across))
    # A partly allowed cell is never drawn as wholly allowed or as not allowed at all.
    shades = np.where(shares == 0, 0, np.where(shares == 1, 4, np.clip(np.round(shares * 4), 1, 3))).astype(int)
    characters = _SHADES if _can_print(_SHADES) else _ASCII_SHADES
    return "\n".join("".join(characters[shade] * wide for shade in row) for row in shades)


def _can_print(text: str) -> bool:
    """Whether standard output can encode these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def edges(n: int, most: int) -> NDArray[np.int64]:
    """The R + 1 edges of R = min(n, most) bins over n tokens; bin r is [r·n//R, (r+1)·n//R)."""
    bins = min(n, most)
    return np.arange(bins + 1, dtype=np.int64) * n // max(bins, 1)


def _counts(
    lowered: LoweredMask,
    shape: AttentionShape,
    at: tuple[int, int],
    down: NDArray[np.int64],
    across: NDArray[np.int64],
) -> NDArray[Any]:
    """The number of allowed pairs in each cell."""
    N = shape.queries
    counts = np.zeros((len(down) - 1, len(across) - 1), np.int64)
    if lowered.allowed is None and not lowered.functions:
        bounds = _of(lowered.bounds, at)
        bounds = np.broadcast_to(bounds, (N, *bounds.shape[1:]))
        for row, (a, e) in enumerate(pairwise(down)):
            # The number of allowed keys before each edge, over the bin's queries.
            first, last = bounds[a:e, :, 0, None], bounds[a:e, :, 1, None]
            before = (np.clip(across, first, last) - first).sum(axis=(0, 1))
            counts[row] = np.diff(before)
        return counts
    for begin, block in blocks(lowered, shape):
        seen = _of(block, at)
        per_column = np.add.reduceat(seen, across[:-1], axis=1, dtype=np.int64)
        if block.shape[2] == 1 and _alike(lowered):
            per_column = np.broadcast_to(per_column, (N, len(across) - 1))
        line = np.searchsorted(down, np.arange(begin, begin + len(per_column)), side="right") - 1
        np.add.at(counts, line, per_column)
    return counts


def _of(array: NDArray[Any], at: tuple[int, int]) -> NDArray[Any]:
    """One batch element and head of an array whose first two axes may have length 1."""
    b, h = (place if size > 1 else 0 for place, size in zip(at, array.shape[:2], strict=True))
    return array[b, h]  # type: ignore[no-any-return]


def _alike(lowered: LoweredMask) -> bool:
    """Whether all queries have the same row."""
    allowed = lowered.allowed
    return lowered.bounds.shape[2] == 1 and (allowed is None or allowed.shape[2] == 1) and not lowered.functions

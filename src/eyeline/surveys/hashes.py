"""Hashes of tokens, by which a uniform sample of looks is drawn that doesn't depend on their order."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys.document import Document

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def token_hashes(document: Document, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash of each of a document's tokens, uniform in 64 bits.

    It is the token's number in the sequence of SplitMix64 whose seed is the first 8 bytes of the sha256 of the
    document's file and place.

    Args:
        document: the document.
        numbers: the tokens' numbers in it, (n,).

    >>> token_hashes(Document(3, "a.txt", 0, "Time flies."), np.arange(2))
    array([ 1682650951334395082, 15018851351254806210], dtype=uint64)
    """
    name = f"{document.file}\0{document.place}".encode("utf-8", "surrogatepass")
    return splitmix(int.from_bytes(hashlib.sha256(name).digest()[:8], "little"), numbers)


def splitmix(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Numbers of the sequence of SplitMix64 by their places in it, from 0. Source: Steele, Lea and Flood, "Fast
    Splittable Pseudorandom Number Generators" (2014)."""
    x = np.uint64(seed) + (numbers.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return np.asarray(x ^ (x >> np.uint64(31)))

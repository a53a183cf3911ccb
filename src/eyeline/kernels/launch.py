"""Handing a kernel its words and its threads."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, threads
from eyeline.kernels.layout import Word
from eyeline.masks import Lowered

Array = NDArray[Any]
#: Multiply-adds between two looks at whether the user wants to stop: some tenths of a second.
BETWEEN_LOOKS = 1 << 34
_own = threading.local()


def tell_array(words: list[int], place: Word, array: Array) -> None:
    """Where an array of four axes lies: its address and strides."""
    words[place : place + 5] = [array.ctypes.data, *array.strides]


def tell_mask(words: list[int], lowered: Lowered | None, shape: tuple[int, int, int, int]) -> int:
    """Where a mask's intervals and booleans lie, for a matrix of this (B, H, N, M); returns the number of intervals."""
    if lowered is None:
        return 0
    bounds = np.broadcast_to(lowered.bounds, (*shape[:3], *lowered.bounds.shape[3:]))
    words[Word.BOUNDS : Word.BOUNDS + 4] = [lowered.bounds.ctypes.data, *bounds.strides[:3]]
    words[Word.INTERVALS] = intervals = int(bounds.shape[3])
    if lowered.allowed is not None:
        tell_array(words, Word.ALLOWED, np.broadcast_to(lowered.allowed, shape))
    return intervals


def follow(words: list[int], begin: int, parts: Iterable[tuple[Word, int]]) -> int:
    """Say where each part of a scratch begins, given their lengths in bytes, each on a cache line of its own; returns
    where the last one ends."""
    for word, length in parts:
        words[word] = begin
        begin += -(-length // 64) * 64
    return begin


def launch(kernel: library.Kernel, block: Array, workers: int, cost: int, held: tuple[object, ...]) -> None:
    """Do all the tasks, each of some `cost` multiply-adds; `held` is what the block points to, and lives as long as a
    thread may be at work on it."""
    address = block.ctypes.data
    size = int(block[Word.S_SIZE])
    at_a_time = max(1, BETWEEN_LOOKS // max(cost, 1))

    def work(held: tuple[object, ...] = held) -> None:
        scratch = _scratch(size)
        while kernel(address, scratch, at_a_time):
            pass  # back in Python for a moment, where Ctrl-C is noticed

    def stop() -> None:
        block[Word.NEXT] = block[Word.TASKS]

    threads.run(work, workers, stop)


def _scratch(size: int) -> int:
    """The address of this thread's scratch, at the start of a cache line, kept from call to call."""
    held: Array | None = getattr(_own, "scratch", None)
    if held is None or held.nbytes < size + 64:
        held = _own.scratch = np.empty(size + 64, np.uint8)
    return -(-held.ctypes.data // 64) * 64

"""Handing a kernel its words and its threads."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.dropout import threshold
from eyeline.kernels import library, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.functions import rule_loop, score_loop
from eyeline.kernels.layout import PANEL_AT_MOST, STEP_WORDS, StepKind, Word
from eyeline.kernels.machine import DType
from eyeline.masks import LoweredMask
from eyeline.scores import Added, Capped, Relative, Step

Array = NDArray[Any]
#: Multiply-adds between two looks at whether the user wants to stop: some tenths of a second.
BETWEEN_LOOKS = 1 << 34
_own = threading.local()


def tell_array(words: list[int], place: int, array: Array) -> None:
    """Where an array of four axes lies: its address and strides."""
    words[place : place + 5] = [array.ctypes.data, *array.strides]


def tell_mask(words: list[int], lowered: LoweredMask | None, shape: tuple[int, int, int, int]) -> int:
    """Where a mask's intervals and booleans lie, for a matrix of this (B, H, N, M); returns the number of intervals."""
    if lowered is None:
        return 0
    bounds = np.broadcast_to(lowered.bounds, (*shape[:3], *lowered.bounds.shape[3:]))
    words[Word.BOUNDS : Word.BOUNDS + 4] = [lowered.bounds.ctypes.data, *bounds.strides[:3]]
    words[Word.INTERVALS] = intervals = int(bounds.shape[3])
    if lowered.allowed is not None:
        tell_array(words, Word.ALLOWED, np.broadcast_to(lowered.allowed, shape))
    return intervals


def tell_setting(
    words: list[int], setting: AttentionSpec, shape: tuple[int, int, int, int], dtype: DType
) -> list[object]:
    """Where all that a setting holds lies, for a matrix of this (B, H, N, M); returns what has to be kept alive."""
    tell_mask(words, setting.mask, shape)
    inside = np.dtype(dtype)
    held: list[object] = []
    rules = setting.mask.functions if setting.mask is not None else ()
    if rules:
        loops = [rule_loop(function) for function in rules]
        table = np.array([loop.address for loop in loops], np.int64)
        words[Word.RULES], words[Word.RULE_COUNT] = table.ctypes.data, len(loops)
        held += [loops, table]
    if setting.scores.steps:
        rows = np.zeros((len(setting.scores.steps), STEP_WORDS), np.int64)
        for row, step in zip(rows, setting.scores.steps, strict=True):
            held.append(_tell_step(row, step, shape, setting, inside))
        words[Word.STEPS], words[Word.STEP_COUNT] = rows.ctypes.data, len(rows)
        held.append(rows)
    if setting.scores.sinks is not None:
        sinks = np.ascontiguousarray(setting.scores.sinks * math.log2(math.e), inside)
        words[Word.SINKS] = sinks.ctypes.data
        held.append(sinks)
    words[Word.FIRST_QUERY] = setting.first_query
    words[Word.DROPPED] = threshold(setting.dropout)
    words[Word.SEED] = int(np.uint64(setting.seed).astype(np.int64))
    return held


def _tell_step(
    row: Array, step: Step, shape: tuple[int, int, int, int], setting: AttentionSpec, inside: np.dtype[Any]
) -> object:
    """One row of the steps' words; returns what has to be kept alive."""
    if isinstance(step, Relative):
        # A panel reads a whole line from its first query's place.
        here = step.table[:, setting.first_query :]
        table = np.zeros((here.shape[0], here.shape[1] + PANEL_AT_MOST), inside)
        table[:, : here.shape[1]] = here * math.log2(math.e)
        row[:4] = StepKind.RELATIVE, table.ctypes.data, 0, table.strides[0] if table.shape[0] > 1 else 0
        return table
    if isinstance(step, Added):
        whole = np.broadcast_to(np.asarray(step.bias, inside), (*shape[:2], setting.queries or shape[2], shape[3]))
        bias = whole[:, :, setting.first_query : setting.first_query + shape[2]]
        row[:] = StepKind.ADDED, bias.ctypes.data, *bias.strides
        return bias
    if isinstance(step, Capped):
        row[0] = StepKind.CAPPED
        row[1:2].view(inside)[0] = step.cap * math.log2(math.e)
        row[2:3].view(inside)[0] = 1 / (step.cap * math.log2(math.e))
        return step
    loop = score_loop(step.function, "float32" if inside == np.float32 else "float64")
    row[:2] = StepKind.CALLED, loop.address
    return loop


def follow(words: list[int], begin: int, parts: Iterable[tuple[int, int]]) -> int:
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

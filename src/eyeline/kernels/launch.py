"""Telling a kernel its params, laying out its threads' workspace, and running it on threads."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.dropout import threshold
from eyeline.kernels import kernel_cache, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.params import PANEL, PANEL_LAYOUT, PARAMS, STEP, WORKSPACE, Half, StepKind
from eyeline.kernels.compiled.programs import PANEL_AT_MOST, Program
from eyeline.kernels.machine import DType
from eyeline.kernels.user_functions import rule_loop, score_loop
from eyeline.masks import LoweredMask
from eyeline.scores import Added, Capped, Relative, Step

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
WORTH_A_THREAD = 1 << 21
#: Multiply-adds between two looks at whether the user wants to stop: some tenths of a second.
BETWEEN_LOOKS = 1 << 34
_own = threading.local()


def computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which arrays of this type are computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def name_of(dtype: np.dtype[Any]) -> DType:
    """The type in which arrays of this type are computed, as kernels are named."""
    return "float64" if dtype == np.float64 else "float32"


def workers_for(cost: int) -> int:
    """How many threads so many multiply-adds are worth."""
    allowed = threads.get_threads()
    return allowed if cost > WORTH_A_THREAD else 1


def address_of(made: Array) -> int:
    """The address of an array that was made here: `ctypes.data`, in half of its time where the array may be written and
    isn't empty."""
    buffer: Any = made
    if made.flags.carray and made.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    return int(made.ctypes.data)


def strided(array: Array, first: int = 0) -> tuple[int, ...]:
    """Where an array of up to four axes lies, as params have it; its token number `first` is the first that is here."""
    address, strides = array.ctypes.data, array.strides
    if first:
        # Keys have their numbers among all; the mask hides those that aren't here.
        address -= first * strides[2]
    return (address, *strides, 0, 0, 0, 0)[:5]


class Params:
    """The params of one call of a kernel, and what has to be kept alive meanwhile.

    Attributes:
        shape, widths: B, H, N and M, all keys; D and E.
        record: one of `PARAMS`, to be filled by field.
        held: whatever the record's addresses point to.
    """

    def __init__(
        self, program: Program, arrays: tuple[Array, Array, Array], spec: AttentionSpec, totals: tuple[Array, Array]
    ) -> None:
        """What every kernel is told: the arrays q (B, H, N, D), k (B, G, M, D), v (B, G, M, E), the spec, and rows'
        maxima and sums, contiguous."""
        q, k, v = arrays
        self.program, self.dtype = program, name_of(q.dtype)
        # Ten times as fast as `np.zeros`.
        self._memory = bytearray(PARAMS[program].itemsize)
        self.record = record = np.ndarray((), PARAMS[program], self._memory)
        self.held: list[object] = [arrays, spec, totals]
        B, H, N, D = q.shape
        G, keys_here, E = v.shape[1:]
        M = spec.keys or keys_here
        self.shape, self.widths = (B, H, N, M), (D, E)
        record["H"], record["group"], record["N"], record["M"], record["D"], record["E"] = H, H // max(G, 1), N, M, D, E
        if q.itemsize == 2:
            record["half"] = Half.FLOAT16 if q.dtype == np.float16 else Half.BFLOAT16
        record["q"], record["k"], record["v"] = strided(q), strided(k, spec.first_key), strided(v, spec.first_key)
        record["m"], record["l"] = address_of(totals[0]), address_of(totals[1])
        record["q_factor"] = spec.scale * math.log2(math.e)
        record["first_query"] = spec.first_query
        if spec.mask is not None:
            self._tell_mask(spec.mask)
        if spec.scores.steps or spec.scores.sinks is not None:
            self._tell_scores(spec)
        if spec.dropout:
            seed = int(np.uint64(spec.seed).astype(np.int64))
            record["dropout"] = threshold(spec.dropout), seed, 1 / (1 - spec.dropout)

    def copy(self) -> Params:
        """The same once more, to be filled further."""
        other = object.__new__(Params)
        memory = self._memory[:]
        record = np.ndarray((), PARAMS[self.program], memory)
        other.__dict__.update(self.__dict__, _memory=memory, record=record, held=[*self.held])
        return other

    def _tell_mask(self, lowered: LoweredMask) -> None:
        mask, bounds = self.record["mask"], lowered.bounds
        strides = [stride if count > 1 else 0 for count, stride in zip(bounds.shape, bounds.strides, strict=True)]
        mask["bounds"] = (bounds.ctypes.data, *strides[:3], 0)
        mask["intervals"] = bounds.shape[3]
        if lowered.allowed is not None:
            mask["allowed"] = strided(np.broadcast_to(lowered.allowed, self.shape))
        if lowered.functions:
            loops = [rule_loop(function) for function in lowered.functions]
            table = np.array([loop.address for loop in loops], np.int64)
            mask["rules"], mask["rule_count"] = table.ctypes.data, len(loops)
            self.held += [loops, table]

    def _tell_scores(self, spec: AttentionSpec) -> None:
        inside = np.dtype(self.dtype)
        if spec.scores.steps:
            steps = np.zeros(len(spec.scores.steps), STEP)
            for record, step in zip(steps, spec.scores.steps, strict=True):
                self.held.append(_tell_step(record, step, self.shape, spec, self.dtype))
            self.record["steps"], self.record["step_count"] = steps.ctypes.data, len(steps)
            self.held.append(steps)
        if spec.scores.sinks is not None:
            sinks = np.ascontiguousarray(spec.scores.sinks * math.log2(math.e), inside)
            self.record["sinks"] = sinks.ctypes.data
            self.held.append(sinks)

    def lay_out(self, layout: Layout) -> None:
        """Say where the parts of a thread's workspace lie."""
        for place, told in layout.told:
            self._memory[place : place + len(told)] = told
        self.record["workspace_size"] = layout.size

    def launch(self, workers: int, cost: int) -> None:
        """Do all the tasks, each of some `cost` multiply-adds."""
        record = self.record
        kernel = kernel_cache.kernel(self.program, self.dtype)
        address, size = ctypes.addressof(ctypes.c_char.from_buffer(self._memory)), int(record["workspace_size"])
        at_a_time = max(1, BETWEEN_LOOKS // max(cost, 1))

        # Whatever the params point to lives as long as a thread may be at work on it.
        def work(held: object = (record, self.held)) -> None:
            workspace = _workspace(size)
            while kernel(address, workspace, at_a_time):
                pass  # back in Python for a moment, where Ctrl-C is noticed

        def stop() -> None:
            record["next_task"] = record["tasks"]

        threads.run(work, workers, stop)


def tell_rectangle(params: Params, record: Any, rectangle: Array, rows: Array, columns: Array) -> None:
    """Say in a `RECTANGLE` where a rectangle (B, H, R, C) of the weights lies: these queries and keys, each once and in
    order."""
    rectangle = np.ascontiguousarray(rectangle)
    record["address"], record["rows"], record["columns"] = rectangle.ctypes.data, len(rows), len(columns)
    params.held.append(rectangle)
    _, _, N, M = params.shape
    for name, chosen, count in (("row_places", rows, N), ("column_places", columns, M)):
        places = np.full(count, -1, np.int32)
        places[chosen] = np.arange(len(chosen))
        record[name] = places.ctypes.data
        params.held.append(places)


def _tell_step(record: Any, step: Step, shape: tuple[int, int, int, int], spec: AttentionSpec, dtype: DType) -> object:
    """One step's record; returns what has to be kept alive."""
    inside = np.dtype(dtype)
    if isinstance(step, Relative):
        # A panel reads a whole line from its first query's place.
        here = step.table[:, spec.first_query :]
        table = np.zeros((here.shape[0], here.shape[1] + PANEL_AT_MOST), inside)
        table[:, : here.shape[1]] = here * math.log2(math.e)
        per_head = table.strides[0] if table.shape[0] > 1 else 0
        record["kind"], record["array"] = StepKind.RELATIVE, (table.ctypes.data, 0, per_head, 0, 0)
        return table
    if isinstance(step, Added):
        whole = np.broadcast_to(np.asarray(step.bias, inside), (*shape[:2], spec.queries or shape[2], shape[3]))
        bias = whole[:, :, spec.first_query : spec.first_query + shape[2]]
        record["kind"], record["array"] = StepKind.ADDED, strided(bias)
        return bias
    if isinstance(step, Capped):
        cap = step.cap * math.log2(math.e)
        record["kind"], record["cap"], record["inverse_cap"] = StepKind.CAPPED, cap, 1 / cap
        return step
    loop = score_loop(step.function, dtype)
    record["kind"], record["array"]["address"] = StepKind.CALLED, loop.address
    return loop


@dataclass(frozen=True)
class Layout:
    """Where the parts of a thread's workspace lie, as a program's params say it.

    Attributes:
        size: bytes of the workspace.
        told: bytes of the params, each with its place among them.
    """

    size: int
    told: tuple[tuple[int, bytes], ...]


def laid_out(
    program: Program, sizes: Mapping[str, int], panels: int = 0, panel: Mapping[str, int] | None = None
) -> Layout:
    """Lay out a workspace of parts of these lengths in bytes, with room for so many panels of these parts.

    It takes long beside a small call: keep the layout for the next one of the same lengths.
    """
    told = []
    if panel is not None:
        places, size = _follow(PANEL_LAYOUT, panel, PANEL.itemsize)
        places["size"] = size
        told.append(_field(program, "panel", places))
        sizes = {"panels": panels * size, **sizes}
    places, size = _follow(WORKSPACE[program], sizes, WORKSPACE[program].itemsize)
    told.append(_field(program, "workspace", places))
    return Layout(size, tuple(told))


def _follow(kind: np.dtype[Any], sizes: Mapping[str, int], begin: int) -> tuple[Array, int]:
    """A record of where each part begins, each on a cache line of its own; and where the last one ends."""
    places = np.zeros((), kind)
    begin = _whole_lines(begin)
    for name, size in sizes.items():
        places[name] = begin
        begin += _whole_lines(size)
    return places, begin


def _field(program: Program, name: str, value: Array) -> tuple[int, bytes]:
    """A field of a program's params as bytes, and its place among the bytes of all."""
    fields = PARAMS[program].fields
    assert fields is not None
    return fields[name][1], value.tobytes()


def _whole_lines(size: int) -> int:
    """So many bytes, rounded up to whole cache lines."""
    return -(-size // 64) * 64


def _workspace(size: int) -> int:
    """The address of this thread's workspace, at the start of a cache line, kept from call to call."""
    address, room, _ = getattr(_own, "workspace", (0, -1, None))
    if room < size:
        memory = np.empty(size + 64, np.uint8)
        address = -(-memory.ctypes.data // 64) * 64
        # All three at once: Ctrl-C may come between any two lines.
        _own.workspace = address, size, memory
    return address

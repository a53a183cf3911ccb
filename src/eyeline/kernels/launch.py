"""Filling a kernel's params, laying out its threads' workspaces, and running it on threads."""

from __future__ import annotations

import ctypes
import math
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
#: The number of multiply-adds for which waking a thread pays.
WORTH_A_THREAD = 1 << 21
#: The number of multiply-adds between two checks for Ctrl-C: some tenths of a second.
BETWEEN_LOOKS = 1 << 34


def computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which arrays of this type are computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def name_of(dtype: np.dtype[Any]) -> DType:
    """The type in which arrays of this type are computed, as kernels are named."""
    return "float64" if dtype == np.float64 else "float32"


def workers_for(cost: int) -> int:
    """The number of threads for this many multiply-adds."""
    allowed = threads.get_threads()
    return allowed if cost > WORTH_A_THREAD else 1


def address_of(made: Array) -> int:
    """The address of an array that this package made: as `ctypes.data`, but twice as fast for arrays that are writable
    and not empty."""
    buffer: Any = made
    if made.flags.carray and made.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    return int(made.ctypes.data)


def strided(array: Array, first: int = 0) -> tuple[int, ...]:
    """Address and strides of an array of up to four axes, as in `STRIDED`; its first token has the position `first`."""
    address, strides = array.ctypes.data, array.strides
    if first:
        # Keys are addressed by their position in the whole; the mask hides those outside the array.
        address -= first * strides[2]
    return (address, *strides, 0, 0, 0, 0)[:5]


class Params:
    """The params of one call of a kernel, and the objects to keep alive during it.

    Attributes:
        shape, widths: B, H, N and M, all keys; D and E.
        record: one of `PARAMS`, to be filled by field.
        held: whatever the record's addresses point to.
    """

    def __init__(
        self, program: Program, arrays: tuple[Array, Array, Array], spec: AttentionSpec, totals: tuple[Array, Array]
    ) -> None:
        """Fill the fields of every kernel: the arrays q (B, H, N, D), k (B, G, M, D), v (B, G, M, E), the spec, and
        the rows' maxima and sums, contiguous."""
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
        """A copy, whose record can be filled further."""
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
        """Set the offsets of a workspace's parts."""
        for place, told in layout.told:
            self._memory[place : place + len(told)] = told
        self.record["workspace_size"] = layout.size

    def launch(self, workers: int, cost: int) -> None:
        """Run all tasks, each of about `cost` multiply-adds."""
        record = self.record
        kernel = kernel_cache.kernel(self.program, self.dtype)
        address, size = ctypes.addressof(ctypes.c_char.from_buffer(self._memory)), int(record["workspace_size"])
        at_a_time = max(1, BETWEEN_LOOKS // max(cost, 1))

        def stop() -> None:
            record["next_task"] = record["tasks"]

        threads.run(kernel, address, size, at_a_time, workers, (record, self.held), stop)


def tell_rectangle(params: Params, record: Any, rectangle: Array, rows: Array, columns: Array) -> None:
    """Fill a `RECTANGLE` for an array (B, H, R, C) of the weights of these queries and keys, each once and in order."""
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
    """Fill one step's record; returns the object to keep alive."""
    inside = np.dtype(dtype)
    if isinstance(step, Relative):
        # A panel reads a whole line from its first query's entry on, so the table is padded.
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
    """The layout of a thread's workspace, as the bytes of its fields in a program's params.

    Attributes:
        size: bytes of the workspace.
        told: pieces of the params' bytes, each with its offset.
    """

    size: int
    told: tuple[tuple[int, bytes], ...]


def laid_out(
    program: Program, sizes: Mapping[str, int], panels: int = 0, panel: Mapping[str, int] | None = None
) -> Layout:
    """Lay out a workspace with parts of these sizes in bytes, and room for `panels` panels.

    This is slow compared with a small call, so reuse the layout for calls with the same sizes.
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
    """A record of the parts' offsets, each on a cache line of its own; and the end of the last one."""
    places = np.zeros((), kind)
    begin = _whole_lines(begin)
    for name, size in sizes.items():
        places[name] = begin
        begin += _whole_lines(size)
    return places, begin


def _field(program: Program, name: str, value: Array) -> tuple[int, bytes]:
    """A field of a program's params: its offset, and its bytes."""
    fields = PARAMS[program].fields
    assert fields is not None
    return fields[name][1], value.tobytes()


def _whole_lines(size: int) -> int:
    """`size` bytes rounded up to whole cache lines."""
    return -(-size // 64) * 64

"""Filling a kernel's params, and running it on threads."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.dropout import threshold
from eyeline.kernels import kernel_cache, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.call_records import FACTOR, MASK, STEP, Half, StepKind
from eyeline.kernels.compiled.params import PARAMS
from eyeline.kernels.compiled.programs import PANEL_AT_MOST, Program
from eyeline.kernels.forms import ArrayForm, Memory, address_of, name_of, strided
from eyeline.kernels.layouts import Layout, offset
from eyeline.kernels.machine import DType
from eyeline.kernels.user_functions import rule_loop, score_loop
from eyeline.masks import LoweredMask
from eyeline.scores import Added, Capped, Flattened, Relative, Step, Weighted

Array = NDArray[Any]
#: The number of multiply-adds for which waking a thread pays.
WORTH_A_THREAD = 1 << 21
#: The number of multiply-adds between two checks for Ctrl-C: some tenths of a second.
BETWEEN_LOOKS = 1 << 34
_WHOLE_NUMBER = struct.Struct("=q")
_write, _read = _WHOLE_NUMBER.pack_into, _WHOLE_NUMBER.unpack_from


def workers_for(cost: int) -> int:
    """The number of threads for this many multiply-adds."""
    allowed = threads.get_threads()
    return allowed if cost > WORTH_A_THREAD else 1


class Params:
    """The params of one call of a kernel, and the objects to keep alive during it.

    Attributes:
        shape, widths: B, H, N and M, all keys; D and E.
        held: whatever the record's addresses point to.
        workspace_size: bytes of a thread's workspace.
    """

    __slots__ = ("_memory", "_record", "_shift", "dtype", "held", "program", "shape", "widths", "workspace_size")

    def __init__(self, program: Program, forms: tuple[ArrayForm, ArrayForm, ArrayForm], spec: AttentionSpec) -> None:
        """Fill the fields of every kernel but the addresses of its arrays (`point`): the forms of q (B, H, N, D), k (B,
        G, M, D) and v (B, G, M, E), and the spec."""
        q, k, v = forms
        self.program, self.dtype = program, name_of(q.dtype)
        # Ten times as fast as `np.zeros`.
        self._memory = bytearray(PARAMS[program].itemsize)
        self._record: Any = None
        record = self.record
        self.held: list[object] = [spec]
        self.workspace_size = 0
        B, H, N, D = q.shape
        G, keys_here, E = v.shape[1:]
        M = spec.keys or keys_here
        self.shape, self.widths = (B, H, N, M), (D, E)
        record["H"], record["group"], record["N"], record["M"], record["D"], record["E"] = H, H // max(G, 1), N, M, D, E
        if q.dtype.itemsize == 2:
            record["half"] = Half.FLOAT16 if q.dtype == np.float16 else Half.BFLOAT16
        record["q"], record["k"], record["v"] = (0, *q.strides), (0, *k.strides), (0, *v.strides)
        # Keys are addressed by their position in the whole; the mask hides those outside the arrays.
        self._shift = spec.first_key * k.strides[2], spec.first_key * v.strides[2]
        record["q_factor"] = spec.scale * math.log2(math.e)
        record["first_query"] = spec.first_query
        if spec.mask is not None:
            self._tell_mask(spec.mask)
        scores = spec.scores
        if scores.steps or scores.factors or scores.hides or scores.sinks is not None:
            self._tell_scores(spec)
        if spec.dropout:
            seed = int(np.uint64(spec.seed).astype(np.int64))
            record["dropout"] = threshold(spec.dropout), seed, 1 / (1 - spec.dropout)

    @property
    def record(self) -> Any:
        """One of `PARAMS`, to be filled by field."""
        if self._record is None:
            self._record = np.ndarray((), PARAMS[self.program], self._memory)
        return self._record

    @property
    def template(self) -> bytes:
        """The params' bytes."""
        return bytes(self._memory)

    @property
    def shifts(self) -> tuple[int, int]:
        """What is taken off the addresses of k and of v."""
        return self._shift

    def copy(self) -> Params:
        """A copy, which can be filled further."""
        other = object.__new__(Params)
        other.program, other.dtype, other.shape, other.widths = self.program, self.dtype, self.shape, self.widths
        other._memory, other._record, other._shift = self._memory[:], None, self._shift
        other.held, other.workspace_size = self.held[:], self.workspace_size
        return other

    def point(self, at: Memory) -> None:
        """Set the addresses of the arrays, which the caller keeps alive."""
        memory, shift, places = self._memory, self._shift, _PLACES[self.program]
        _write(memory, places.q, at.q)
        _write(memory, places.k, at.k - shift[0])
        _write(memory, places.v, at.v - shift[1])
        _write(memory, places.maxima, at.maxima)
        _write(memory, places.sums, at.sums)

    def change(self, words: Mapping[int, int]) -> None:
        """Set words at these places, in bytes."""
        for place, word in words.items():
            _write(self._memory, place, word)

    def set(self, name: str, value: int) -> None:
        """Set a field that is a whole number, or the address of a `STRIDED` one: six times as fast as by the record."""
        _write(self._memory, offset(self.program, name), value)

    def read(self, name: str) -> int:
        """Read a field that is a whole number."""
        (value,) = _read(self._memory, offset(self.program, name))
        return int(value)

    def _tell_mask(self, lowered: LoweredMask) -> None:
        mask, bounds = self.record["mask"], lowered.bounds
        mask["bounds"] = (address_of(bounds), *_row_strides(bounds))
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
        if spec.scores.hides:
            self._tell_cuts(spec)
        if spec.scores.factors:
            factors = np.zeros(len(spec.scores.factors), FACTOR)
            for record, factor in zip(factors, spec.scores.factors, strict=True):
                self.held.append(_tell_factor(record, factor, self.shape, spec, inside))
            self.record["factors"], self.record["factor_count"] = factors.ctypes.data, len(factors)
            self.held.append(factors)

    def _tell_cuts(self, spec: AttentionSpec) -> None:
        hidden = spec.scores.hidden
        assert hidden is not None
        kinds = np.broadcast_to(hidden.kinds[..., spec.first_query :][..., : self.shape[2]], self.shape[:3])
        self.record["cuts"] = address_of(hidden.columns), strided(kinds)
        self.held.append(kinds)

    def lay_out(self, layout: Layout) -> None:
        """Set the offsets of a workspace's parts."""
        for place, told in layout.told:
            self._memory[place : place + len(told)] = told
        self.workspace_size = layout.size

    def launch(self, workers: int, most: int) -> None:
        """Run all tasks on this many threads, `most` tasks at a time: in between, Ctrl-C is noticed."""
        kernel = kernel_cache.kernel(self.program, self.dtype)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        threads.run(kernel, address, self.workspace_size, most, workers)


def _row_strides(bounds: Array) -> tuple[int, int, int, int]:
    """The strides of a lowered mask's bounds as a `STRIDED` has them: 0 for an axis that is the same for all."""
    batch, head, row = (
        stride if count > 1 else 0 for count, stride in zip(bounds.shape[:3], bounds.strides[:3], strict=True)
    )
    return batch, head, row, 0


def key_words(
    program: Program, count: int, k_strides: tuple[int, ...], v_strides: tuple[int, ...], mask: LoweredMask | None
) -> dict[int, int]:
    """The words of a program's params, by their places in bytes, that say how many keys there are, with arrays of these
    strides and this mask, of intervals alone."""
    k, v, mask_at = (offset(program, name) for name in ("k", "v", "mask"))
    words = {offset(program, "M"): count}
    for place, strides in ((k, k_strides), (v, v_strides)):
        words |= {place + 8 + 8 * axis: stride for axis, stride in enumerate(strides)}
    bounds = (0,) if mask is None else (address_of(mask.bounds), *_row_strides(mask.bounds))
    words |= {mask_at + _BOUNDS + 8 * number: word for number, word in enumerate(bounds)}
    return words if mask is None else words | {mask_at: mask.bounds.shape[3]}


def tasks_at_a_time(cost: int) -> int:
    """The number of tasks, each of this many multiply-adds, between two checks for Ctrl-C."""
    return max(1, BETWEEN_LOOKS // max(cost, 1))


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
    if isinstance(step, Flattened):
        heads = np.broadcast_to(step.heads, shape[:2])
        record["kind"], record["array"] = StepKind.FLATTENED, strided(heads)
        return heads
    loop = score_loop(step.function, dtype)
    record["kind"], record["array"]["address"] = StepKind.CALLED, loop.address
    return loop


def _tell_factor(
    record: Any, factor: Weighted, shape: tuple[int, int, int, int], spec: AttentionSpec, inside: np.dtype[Any]
) -> object:
    """Fill one factor's record; returns the objects to keep alive."""
    by = factor.by[..., spec.first_query : spec.first_query + shape[2]]
    with np.errstate(divide="ignore"):
        table = np.stack([by.clip(*_finite(inside)), np.log2(np.abs(by))], dtype=inside, casting="same_kind")
    table = np.broadcast_to(table, (2, *shape[:3]))
    record["logs"], record["by"] = table.strides[0], strided(table[0])
    columns, heads = (
        np.broadcast_to(factor.columns, (*shape[:2], shape[3])),
        np.broadcast_to(factor.columns.any(axis=2), shape[:2]),
    )
    batch, head, key = columns.strides
    record["columns"], record["heads"] = (address_of(columns), batch, head, 0, key), strided(heads)
    return table, columns, heads


def _finite(inside: np.dtype[Any]) -> tuple[float, float]:
    """The least and the largest number of a type."""
    limits = np.finfo(inside)
    return float(limits.min), float(limits.max)


#: The offset of the bounds in a `MASK`, whose first field is the number of intervals.
_BOUNDS = MASK.fields["bounds"][1] if MASK.fields else 0
#: The offsets of the arrays' addresses, by program.
_PLACES = {program: Memory(*(offset(program, name) for name in ("q", "k", "v", "m", "l"))) for program in PARAMS}

"""The records of `params` as compiled code sees them, and how everything is compiled."""

from __future__ import annotations

from typing import NamedTuple

from numba import from_dtype, njit
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.memory import store_word, word
from eyeline.kernels.compiled.params import PANEL, STEP, STRIDED, VISIT, WORKSPACE
from eyeline.kernels.compiled.simd import I64, pointer

#: Everything is compiled so: no checks, no Python exceptions.
compiled = njit(error_model="numpy", boundscheck=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def record_at(dtype):
    """An intrinsic: the record of this type at an address, whose fields can then be read and set."""
    kind = from_dtype(dtype)

    @intrinsic
    def at(typingctx, address):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.intp), codegen

    return at


panel_at, visit_at, step_at, strided_at = (record_at(kind) for kind in (PANEL, VISIT, STEP, STRIDED))


@intrinsic(prefer_literal=True)
def add_to_field(typingctx, record, name, amount):
    """Raises a record's field by `amount`, atomically, and returns what it was."""

    def codegen(context, builder, signature, args):
        at = builder.add(builder.ptrtoint(args[0], I64), I64(record.offset(name.literal_value)))
        return builder.atomic_rmw("add", pointer(builder, at, I64), args[2], "monotonic")

    return types.int64(record, name, types.int64), codegen


@intrinsic
def address_of(typingctx, record):
    """Where a record lies."""
    return types.intp(record), lambda context, builder, signature, args: builder.ptrtoint(args[0], I64)


def opener(dtype, parts):
    """`open_parts(places, address)`: writes where the `parts` of what lies at an address are into its record, a `dtype`
    that ends with them, from the record of their places in it. It returns the record."""
    at, count, first = record_at(dtype), len(parts), dtype.fields[parts[0]][1]

    @compiled
    def open_parts(places, address):
        source = address_of(places)
        for i in range(count):
            store_word(address + first + 8 * i, address + word(source, i))
        return at(address)

    return open_parts


def workspace_opener(program):
    """`open_workspace(places, address)`: the record of a thread's workspace at an address, its parts' addresses written
    into it."""
    return opener(WORKSPACE[program], WORKSPACE[program].names)


class StridedRows(NamedTuple):
    """One head's rows: where the first begins, and the bytes from one to the next and from one column to the next."""

    at: int
    token: int
    column: int


class KeyRange(NamedTuple):
    """KeyRange [a, e) of one block, and whether flags say which of them are hidden."""

    a: int
    e: int
    flagged: bool


@compiled
def head_of(array, batch, head):
    """One head of an array of four axes, as `StridedRows`."""
    return StridedRows(array.address + batch * array.batch + head * array.head, array.token, array.column)


@compiled
def rows_from(matrix, first):
    """A matrix without its first rows."""
    return StridedRows(matrix.at + first * matrix.token, matrix.token, matrix.column)

"""Access to the records of `params` in compiled code, and the decorator that compiles everything."""

from __future__ import annotations

from typing import NamedTuple

from numba import from_dtype
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.call_records import FACTOR, STEP, STRIDED
from eyeline.kernels.compiled.memory import store_word, word
from eyeline.kernels.compiled.numba_target import compiled
from eyeline.kernels.compiled.params import PANEL, VISIT, WORKSPACE
from eyeline.kernels.compiled.programs import KEY_BLOCK
from eyeline.kernels.compiled.simd import I64, pointer


def record_at(dtype):
    """An intrinsic that gives the record of this type at an address, whose fields can then be read and set."""
    kind = from_dtype(dtype)

    @intrinsic
    def at(typingctx, address):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.intp), codegen

    return at


panel_at, visit_at, step_at, strided_at, factor_at = (record_at(kind) for kind in (PANEL, VISIT, STEP, STRIDED, FACTOR))


@intrinsic(prefer_literal=True)
def add_to_field(typingctx, record, name, amount):
    """Adds `amount` to a record's field, atomically, and returns the previous value."""

    def codegen(context, builder, signature, args):
        at = builder.add(builder.ptrtoint(args[0], I64), I64(record.offset(name.literal_value)))
        return builder.atomic_rmw("add", pointer(builder, at, I64), args[2], "monotonic")

    return types.int64(record, name, types.int64), codegen


@intrinsic
def address_of(typingctx, record):
    """The address of a record."""
    return types.intp(record), lambda context, builder, signature, args: builder.ptrtoint(args[0], I64)


def opener(dtype, parts):
    """`open_parts(places, address)`: sets the fields `parts`, the last ones of the record `dtype` at an address, to the
    addresses of the parts, from the record of their offsets, `places`. It returns the record."""
    at, count, first = record_at(dtype), len(parts), dtype.fields[parts[0]][1]

    @compiled
    def open_parts(places, address):
        source = address_of(places)
        for i in range(count):
            store_word(address + first + 8 * i, address + word(source, i))
        return at(address)

    return open_parts


def workspace_opener(program):
    """`open_workspace(places, address)`: the record of a thread's workspace at an address, with its parts' addresses
    set."""
    return opener(WORKSPACE[program], WORKSPACE[program].names)


class StridedRows(NamedTuple):
    """One head's rows: the address of the first, and the bytes from one row to the next and one column to the next."""

    at: int
    token: int
    column: int


class KeyRange(NamedTuple):
    """The keys [a, e) of one block, and whether flags say which of them are hidden."""

    a: int
    e: int
    flagged: bool


@compiled
def head_of(array, batch, head):
    """One head of an array of four axes, as `StridedRows`."""
    return StridedRows(array.address + batch * array.batch + head * array.head, array.token, array.column)


@compiled
def scores_at(panel, key, line):
    """Where a panel's scores on a key lie, in lines of `line` bytes: from the first block that it needs on, so that
    panels of short documents in a long sequence use the same few cache lines."""
    return panel.scores + (key - panel.first_key + panel.first_key % KEY_BLOCK) * line


@compiled
def rows_from(matrix, first):
    """A matrix without its first rows."""
    return StridedRows(matrix.at + first * matrix.token, matrix.token, matrix.column)

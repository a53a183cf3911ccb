"""Loops over ranges, lowered to a counter and a comparison: Numba computes the number of steps before each loop, for
which it needs a division, and LLVM a long time to remove it again."""

from __future__ import annotations

from llvmlite import ir
from numba.core.imputils import Registry
from numba.cpython.rangeobj import range_impl_map

#: Numba's names of what it lowers, and what they become here.
registry = Registry("kernels' ranges")


def struct_of(builder, kind, values):
    """A structure of this LLVM type, whose first members are `values`."""
    struct = ir.Constant(kind, ir.Undefined)
    for number, value in enumerate(values):
        struct = builder.insert_value(struct, value, number)
    return struct


def _define(integer, range_type, iterator_type):
    def make(context, builder, signature, args):
        zero, one = context.get_constant(integer, 0), context.get_constant(integer, 1)
        start, stop, step = (zero, *args, one) if len(args) == 1 else (*args, one)[:3]
        return struct_of(builder, context.get_value_type(range_type), (start, stop, step))

    for count in (1, 2, 3):
        registry.lower(range, *[integer] * count)(make)

    @registry.lower("getiter", range_type)
    def begin(context, builder, signature, args):
        start, stop, step = (builder.extract_value(args[0], number) for number in range(3))
        with builder.goto_entry_block():
            place = builder.alloca(start.type)
        builder.store(start, place)
        return struct_of(builder, context.get_value_type(iterator_type), (place, stop, step))

    @registry.lower("iternext", iterator_type)
    def following(context, builder, signature, args):
        place, stop, step = (builder.extract_value(args[0], number) for number in range(3))
        compare = builder.icmp_signed if integer.signed else builder.icmp_unsigned
        value = builder.load(place)
        upwards = builder.icmp_signed(">", step, ir.Constant(step.type, 0))
        inside = builder.select(upwards, compare("<", value, stop), compare(">", value, stop))
        builder.store(builder.add(value, step, flags=("nsw",) if integer.signed else ()), place)
        return struct_of(builder, context.get_value_type(signature.return_type), (value, inside))


for _integer, (_range_type, _iterator_type) in range_impl_map.items():
    _define(_integer, _range_type, _iterator_type)

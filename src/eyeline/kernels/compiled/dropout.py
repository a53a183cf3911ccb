"""Dropout: weights set to 0 by a counter-based generator, so that the backward pass drops the same ones.

The generator is `eyeline.dropout`'s. A row's lot is its hash of the seed, the batch element, the head and the query; a
weight's lot is a hash of its row's lot and the key.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.dropout import KEY_MIXERS, KEY_STEP, ROW_MIXERS
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import I32, above, select, splat_value


class DropoutFunctions(NamedTuple):
    """`draw_lots(p, panel)`: computes the lots of a panel's rows; `drop(p, panel, P, a, e)`: sets the dropped ones of
    the weights on the keys [a, e), which lie at P, to 0; weights marked hidden stay."""

    draw_lots: object
    drop: object


@intrinsic
def _where_kept(typingctx, weight, low, high, key, threshold):
    """The weights whose lot reaches the threshold, else 0; `low` and `high` are the halves of the rows' lots."""

    def codegen(context, builder, signature, args):
        weight, low, high, key, threshold = args
        lanes = low.type.count

        def constant(value):
            return ir.Constant(low.type, [value] * lanes)

        def spread(value):
            return splat_value(builder, builder.trunc(value, I32), lanes)

        x = builder.add(low, builder.mul(spread(key), constant(KEY_STEP)))
        x = builder.mul(builder.xor(x, builder.lshr(x, constant(16))), constant(KEY_MIXERS[0]))
        x = builder.add(builder.xor(x, builder.lshr(x, constant(15))), high)
        x = builder.mul(x, constant(KEY_MIXERS[1]))
        x = builder.xor(x, builder.lshr(x, constant(16)))
        kept = builder.icmp_unsigned(">=", x, spread(threshold))
        return builder.select(kept, weight, ir.Constant(weight.type, [0.0] * lanes))

    return weight(weight, low, high, types.int64, types.int64), codegen


@cache
def dropout(dtype, lanes, most_vectors):
    """Dropout, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_ints, store_int = W.load, W.store, W.splat, W.load_ints, W.store_int
    _, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    first_mixer, second_mixer = (np.uint64(mixer) for mixer in ROW_MIXERS)

    @compiled
    def mixed(x):
        x = (x ^ (x >> np.uint64(30))) * first_mixer
        x = (x ^ (x >> np.uint64(27))) * second_mixer
        return x ^ (x >> np.uint64(31))

    @compiled
    def draw_lots(p, panel):
        lots, number = panel.lots, p.first_query + panel.first_query
        of_head = mixed(mixed(mixed(np.uint64(p.dropout.seed)) + np.uint64(panel.batch)) + np.uint64(panel.head))
        for i in range(length):
            lot = mixed(of_head + np.uint64(number + i))
            store_int(lots + i * 4, np.int32(lot & np.uint64(0xFFFFFFFF)))
            store_int(lots + (length + i) * 4, np.int32(lot >> np.uint64(32)))

    @compiled
    def drop(p, panel, P, a, e):
        lots, threshold = panel.lots, p.dropout.threshold
        for w in range(panel.vectors):
            low, high = load_ints(lots + w * lanes * 4), load_ints(lots + (length + w * lanes) * 4)
            for j in range(a, e):
                at = P + (j - a) * line + w * vector
                weight = load(at)
                store(at, select(above(splat(zero), weight), weight, _where_kept(weight, low, high, j, threshold)))

    return DropoutFunctions(draw_lots, drop)

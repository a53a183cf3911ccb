"""Dropout: weights set to 0 by a counter-based generator, so that a pass backward drops the same ones.

The generator is `eyeline.dropout`'s: a row's lot is a hash of the seed, the batch, the head and the query; a weight's
is one of its row's lot and the key.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import width, word
from eyeline.kernels.simd import I32, above, select, splat_value
from eyeline.kernels.words import DROPPED, FIRST_QUERY, S_LOTS, SEED, compiled

_GOLDEN, _FIRST, _SECOND = 0x9E3779B9, 0x7FEB352D, 0x846CA68B


@intrinsic
def _kept(typingctx, weight, low, high, key, dropped):
    """The weights whose lot isn't among the dropped, else 0; `low` and `high` are the halves of the rows' lots."""

    def codegen(context, builder, signature, args):
        weight, low, high, key, dropped = args
        lanes = low.type.count

        def constant(value):
            return ir.Constant(low.type, [value] * lanes)

        def spread(value):
            return splat_value(builder, builder.trunc(value, I32), lanes)

        x = builder.add(low, builder.mul(spread(key), constant(_GOLDEN)))
        x = builder.mul(builder.xor(x, builder.lshr(x, constant(16))), constant(_FIRST))
        x = builder.add(builder.xor(x, builder.lshr(x, constant(15))), high)
        x = builder.mul(x, constant(_SECOND))
        x = builder.xor(x, builder.lshr(x, constant(16)))
        kept = builder.icmp_unsigned(">=", x, spread(dropped))
        return builder.select(kept, weight, ir.Constant(weight.type, [0.0] * lanes))

    return weight(weight, low, high, types.int64, types.int64), codegen


def dropping(dtype, lanes, most_vectors):
    """`draw_lots` and `drop`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_ints, store_int = W.load, W.store, W.splat, W.load_ints, W.store_int
    _, step, length, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)

    @compiled
    def mixed(x):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    @compiled
    def draw_lots(p, state, batch, head, first_query):
        """The panel's lots, into its state."""
        lots = state + word(p, S_LOTS)
        of_head = mixed(mixed(mixed(np.uint64(word(p, SEED))) + np.uint64(batch)) + np.uint64(head))
        for i in range(length):
            lot = mixed(of_head + np.uint64(word(p, FIRST_QUERY) + first_query + i))
            store_int(lots + i * 4, np.int32(lot & np.uint64(0xFFFFFFFF)))
            store_int(lots + (length + i) * 4, np.int32(lot >> np.uint64(32)))

    @compiled
    def drop(p, state, weights, vectors, a, e):
        """Set the dropped of the weights of the keys [a, e), which lie at `weights`, to 0; one marked hidden stays."""
        lots, dropped = state + word(p, S_LOTS), word(p, DROPPED)
        for w in range(vectors):
            low, high = load_ints(lots + w * lanes * 4), load_ints(lots + (length + w * lanes) * 4)
            for j in range(a, e):
                at = weights + (j - a) * line + w * step
                weight = load(at)
                store(at, select(above(splat(zero), weight), weight, _kept(weight, low, high, j, dropped)))

    return draw_lots, drop

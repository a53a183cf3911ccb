"""Products of rows with a packed matrix, and what follows them while the sums are in the cache.

A task is a block of rows times a few panels of outputs. Panel by panel: block after block of inputs, the sums of all
rows are added up in the workspace, tile by tile (`product_tiles`); then bias, activation, gate and residual, and the
rows are stored (`finish`). Few rows read the weights once, as they are stored, at the speed of the memory.

Every output is the sum of its input blocks' sums, in order, whatever the number of rows, the tile, or the thread.
"""

from __future__ import annotations

from typing import NamedTuple

from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.activations import activation
from eyeline.kernels.compiled.memory import store_word, width
from eyeline.kernels.compiled.params import Half
from eyeline.kernels.compiled.partial_vectors import partial_vectors
from eyeline.kernels.compiled.product_params import (
    FEW_ROWS,
    INPUT_BLOCK,
    PANELS_AT_ONCE,
    PRODUCT,
    PRODUCT_TILES,
    Activation,
)
from eyeline.kernels.compiled.product_tiles import load_weights, product_tile
from eyeline.kernels.compiled.records import add_to_field, compiled, record_at
from eyeline.kernels.compiled.simd import Vec

NOT, FLOAT16 = int(Half.NOT), int(Half.FLOAT16)
RELU, GELU, GELU_TANH, SILU = (int(kind) for kind in list(Activation)[1:])


class Segment(NamedTuple):
    """Where a column of x lies: the bytes from the row's beginning, and the number of columns from there on that lie
    side by side."""

    offset: int
    run: int


def _weights(lanes, stored):
    """An intrinsic that loads a vector of weights."""

    @intrinsic
    def load(typingctx, address):
        return Vec(types.float32, lanes)(types.intp), lambda context, builder, signature, args: load_weights(
            builder, args[0], lanes, stored
        )

    return load


def product(dtype, lanes, *_sizes_of_attention):
    """The kernel for one vector width: `kernel(params, workspace, most)` does up to `most` tasks.

    It returns the number of tasks not yet taken when it stopped. Any number of threads may run it on the same params,
    each with its own workspace: the addresses of a task's rows, their sums, and a block of weights, widened.
    """
    vectors, most_rows = PRODUCT_TILES[lanes]
    at_once = PANELS_AT_ONCE[lanes]
    W = width(dtype, lanes)
    load, store = W.load, W.store
    load_first, store_first = partial_vectors(lanes)
    size, vector = 4, 4 * lanes
    line = vectors * vector
    read_float16, read_bfloat16 = _weights(lanes, Half.FLOAT16), _weights(lanes, Half.BFLOAT16)
    relu, gelu, gelu_tanh, silu = (activation(kind, lanes) for kind in list(Activation)[1:])
    many, many_float16, many_bfloat16 = (product_tile(lanes, vectors, most_rows, half) for half in Half)
    one, one_float16, one_bfloat16 = (product_tile(lanes, vectors, 1, half, at_once) for half in Half)
    params_at = record_at(PRODUCT)

    @compiled
    def activate(kind, x):
        if kind == GELU:
            return gelu(x)
        if kind == SILU:
            return silu(x)
        if kind == GELU_TANH:
            return gelu_tanh(x)
        if kind == RELU:
            return relu(x)
        return x

    @compiled
    def list_rows(p, table, first, count):
        """Write the addresses of `count` rows of x; the last one's again, for the tile that reaches beyond it."""
        outer, inner = first // p.together, first % p.together
        address = p.x.address
        for i in range(count + most_rows - 1):
            if i < count:
                address = p.x.address + outer * p.x.outer + inner * p.x.inner
                inner += 1
                if inner == p.together:
                    outer, inner = outer + 1, 0
            store_word(table + 8 * i, address)

    @compiled
    def widen(stored, source, n, target):
        """Copy n lines of 16-bit weights as float32."""
        for i in range(n * vectors):
            at, to = source + i * lanes * 2, target + i * vector
            store(to, read_float16(at) if stored == FLOAT16 else read_bfloat16(at))

    @compiled
    def segment_of(p, column):
        whole, rest = column // p.segment, column % p.segment
        return Segment(whole * (p.segment * size + p.jump) + rest * size, p.segment - rest)

    @compiled
    def sum_rows(p, table, weights, stored, first, n, sums, count):
        """Sums of all rows over n inputs from `first` on, for one panel."""
        offset, run = segment_of(p, first)
        for i in range(0, count, most_rows):
            at, to = table + 8 * i, sums + i * line
            if stored == NOT:
                many(at, offset, run, p.segment, p.jump, weights, 0, n, to, 0, first)
            elif stored == FLOAT16:
                many_float16(at, offset, run, p.segment, p.jump, weights, 0, n, to, 0, first)
            else:
                many_bfloat16(at, offset, run, p.segment, p.jump, weights, 0, n, to, 0, first)

    @compiled
    def sum_row(p, table, weights, panel_bytes, stored, first, n, sums):
        """Sums of one row over n inputs from `first` on, for several panels."""
        offset, run = segment_of(p, first)
        if stored == NOT:
            one(table, offset, run, p.segment, p.jump, weights, panel_bytes, n, sums, line, first)
        elif stored == FLOAT16:
            one_float16(table, offset, run, p.segment, p.jump, weights, panel_bytes, n, sums, line, first)
        else:
            one_bfloat16(table, offset, run, p.segment, p.jump, weights, panel_bytes, n, sums, line, first)

    @compiled
    def finish_vector(p, total, bias, gate, gate_bias, residual, y, left):
        """The rest of the formula for one vector of a row, of which `left` lanes or all are outputs."""
        value = load(total) + load(bias)
        if gate != 0:
            value = activate(p.activation, load(gate) + load(gate_bias)) * value
        else:
            value = activate(p.activation, value)
        if left >= lanes:
            if p.residual.address != 0:
                value = value + load(residual)
            store(y, value)
        else:
            if p.residual.address != 0:
                value = value + load_first(residual, left)
            store_first(y, value, left)

    @compiled
    def finish(p, sums, panel, first, count):
        """Bias, activation, gate, residual: the outputs of one panel."""
        kept = vectors if p.gated == 0 else vectors // 2
        skipped = 0 if p.gated == 0 else kept * vector
        column = panel * kept * lanes
        bias = p.bias + panel * line
        outer, inner = first // p.together, first % p.together
        for i in range(count):
            y = p.y.address + outer * p.y.outer + inner * p.y.inner + column * size
            residual = p.residual.address + outer * p.residual.outer + inner * p.residual.inner + column * size
            inner += 1
            if inner == p.together:
                outer, inner = outer + 1, 0
            for w in range(kept):
                left, at = p.outputs - column - w * lanes, w * vector
                total = sums + i * line + at
                if left > 0:
                    gate = total if skipped != 0 else 0
                    finish_vector(
                        p, total + skipped, bias + at + skipped, gate, bias + at, residual + at, y + at, left
                    )

    @compiled
    def do_panel(p, table, sums, wide, panel, first, count):
        """One panel for a block of rows."""
        stored = p.stored
        weight_line = line if stored == NOT else line // 2
        weights = p.weights + panel * p.inputs * weight_line
        for i in range(0, max(p.inputs, 1), INPUT_BLOCK):
            n = min(p.inputs - i, INPUT_BLOCK)
            at = weights + i * weight_line
            if stored != NOT and count > FEW_ROWS:
                widen(stored, at, n, wide)
                sum_rows(p, table, wide, NOT, i, n, sums, count)
            else:
                sum_rows(p, table, at, stored, i, n, sums, count)
        finish(p, sums, panel, first, count)

    @compiled
    def do_panels_of_row(p, table, sums, panel, panels, first):
        """One panel or `at_once` panels for a single row."""
        weight_line = line if p.stored == NOT else line // 2
        panel_bytes = p.inputs * weight_line
        apart = panel_bytes if panels == at_once else 0  # else the same panel several times
        for i in range(0, max(p.inputs, 1), INPUT_BLOCK):
            n = min(p.inputs - i, INPUT_BLOCK)
            sum_row(p, table, p.weights + panel * panel_bytes + i * weight_line, apart, p.stored, i, n, sums)
        for k in range(panels):
            finish(p, sums + k * line, panel + k, first, 1)

    def kernel(params, workspace, most):
        p = params_at(params)
        table = workspace
        sums = table + (8 * (p.row_block + most_rows) + 63) // 64 * 64
        wide = sums + (max(p.row_block, at_once) + most_rows) * line
        while most > 0:
            task = add_to_field(p, "next_task", 1)
            if task >= p.tasks:
                return 0
            most -= 1
            first = task % p.row_blocks * p.row_block
            count = min(p.row_block, p.rows - first)
            panel = task // p.row_blocks * p.panel_block
            end = min(panel + p.panel_block, p.panels)
            list_rows(p, table, first, count)
            if count == 1:
                while panel < end:
                    panels = at_once if end - panel >= at_once else 1
                    do_panels_of_row(p, table, sums, panel, panels, first)
                    panel += panels
            else:
                for k in range(panel, end):
                    do_panel(p, table, sums, wide, k, first, count)
        return max(p.tasks - p.next_task, 0)

    return kernel

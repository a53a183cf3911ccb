"""Products of rows with a packed matrix, and what follows them while the sums are in the cache.

A task is a block of rows times a few panels of outputs. Panel by panel: block after block of inputs, the sums of all
rows are added up in the workspace, tile by tile (`product_tiles`); then bias, activation, gate and residual, and the
rows are stored (`finish`). Weights of 16 bits are widened in the tile: it costs less than to keep them widened.

Every output is the sum of its input blocks' sums, in order, whatever the number of rows, the tile, or the thread.
"""

from __future__ import annotations

from typing import NamedTuple

from eyeline.kernels.compiled.activations import activation
from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.compiled.memory import store_word, width
from eyeline.kernels.compiled.partial_vectors import partial_vectors
from eyeline.kernels.compiled.product_params import (
    INPUT_BLOCK,
    PRODUCT,
    PRODUCT_TILES,
    Activation,
)
from eyeline.kernels.compiled.product_tiles import product_tile
from eyeline.kernels.compiled.records import add_to_field, compiled, record_at

NOT, FLOAT16 = int(Half.NOT), int(Half.FLOAT16)
RELU, GELU, GELU_TANH, SILU = (int(kind) for kind in list(Activation)[1:])


class Segment(NamedTuple):
    """Where a column of x lies: the bytes from the row's beginning, and the number of columns from there on that lie
    side by side."""

    offset: int
    run: int


def _tiles(lanes, stored):
    """`tile(left, lower, *arguments)`: the tile for so many rows left, the `lower` one or the highest, with weights of
    this stored type."""
    vectors, *heights = PRODUCT_TILES[lanes]
    many, some, one = (product_tile(lanes, vectors, rows, stored) for rows in (*heights, 1))

    @compiled
    def tile(left, lower, *arguments):
        if left == 1:
            one(*arguments)
        elif lower:
            some(*arguments)
        else:
            many(*arguments)

    return tile


def product(dtype, lanes, *_sizes_of_attention):
    """The kernel for one vector width: `kernel(params, workspace, most)` does up to `most` tasks.

    It returns the number of tasks not yet taken when it stopped. Any number of threads may run it on the same params,
    each with its own workspace: the addresses of a task's rows, and their sums.
    """
    vectors, most_rows, some_rows = PRODUCT_TILES[lanes]
    W = width(dtype, lanes)
    load, store = W.load, W.store
    load_first, store_first = partial_vectors(lanes)
    size, vector = 4, 4 * lanes
    line = vectors * vector
    relu, gelu, gelu_tanh, silu = (activation(kind, lanes) for kind in list(Activation)[1:])
    plain, float16, bfloat16 = (_tiles(lanes, half) for half in Half)
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
    def segment_of(p, column):
        whole, rest = column // p.segment, column % p.segment
        return Segment(whole * (p.segment * size + p.jump) + rest * size, p.segment - rest)

    @compiled
    def sum_rows(p, table, weights, first, n, sums, count):
        """Sums of all rows over n inputs from `first` on, for one panel."""
        (offset, run), segment, jump, stored = segment_of(p, first), p.segment, p.jump, p.stored
        done = 0
        while done < count:
            left, at, to = count - done, table + 8 * done, sums + done * line
            # Two of the lower tiles where a higher one would leave little.
            lower = left <= some_rows or most_rows < left <= 2 * some_rows
            if stored == NOT:
                plain(left, lower, at, offset, run, segment, jump, weights, n, to, first)
            elif stored == FLOAT16:
                float16(left, lower, at, offset, run, segment, jump, weights, n, to, first)
            else:
                bfloat16(left, lower, at, offset, run, segment, jump, weights, n, to, first)
            done += some_rows if lower else most_rows

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
                    finish_vector(p, total + skipped, bias + at + skipped, gate, bias + at, residual + at, y + at, left)

    @compiled
    def do_panel(p, table, sums, panel, first, count):
        """One panel for a block of rows."""
        weight_line = line if p.stored == NOT else line // 2
        weights = p.weights + panel * p.inputs * weight_line
        for i in range(0, max(p.inputs, 1), INPUT_BLOCK):
            n = min(p.inputs - i, INPUT_BLOCK)
            sum_rows(p, table, weights + i * weight_line, i, n, sums, count)
        finish(p, sums, panel, first, count)

    def kernel(params, workspace, most):
        p = params_at(params)
        table = workspace
        sums = table + (8 * (p.row_block + most_rows) + 63) // 64 * 64
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
            for k in range(panel, end):
                do_panel(p, table, sums, k, first, count)
        return max(p.tasks - p.next_task, 0)

    return kernel

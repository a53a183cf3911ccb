"""The forward pass: blocks of queries against blocks of keys, with the softmax kept up to date on the way.

Each task is one head's block of queries, split into panels that lie in the vector lanes (see `tiles`). For every block
of keys that the mask allows, and every panel: scores S, mask, new maximum m, weights P = 2^(S - m), and the weighted
values added to acc. The earlier sum is rescaled by alpha when a row's maximum grows (online softmax: Milakov and
Gimelshein 2018; Dao et al. 2022). Scores are in base 2: queries are multiplied by scale · log2 e while they are packed.

A weight of 0 times NaN is NaN, but a hidden value must not affect the result. So a panel whose result isn't finite is
computed again, carefully, leaving out hidden keys one by one; if it still isn't finite, a third time with weights
scaled down, for sums that overflow though their mean doesn't. Finite panels pay nothing for this. A visible NaN reaches
the result, however small its weight.

Nothing here allocates, raises or calls back, so the machine code stands alone (see `compile`).
"""

from __future__ import annotations

from eyeline.kernels.compiled.half_precision import half_precision
from eyeline.kernels.compiled.masking import masking
from eyeline.kernels.compiled.memory import load_i32
from eyeline.kernels.compiled.packing import CAREFUL, FAST, SCALED_DOWN, packing
from eyeline.kernels.compiled.panel import panel_pass
from eyeline.kernels.compiled.params import PARAMS, VISIT
from eyeline.kernels.compiled.primitives import primitives
from eyeline.kernels.compiled.programs import KEY_BLOCK, sizes
from eyeline.kernels.compiled.records import (
    add_to_field,
    compiled,
    panel_at,
    record_at,
    rows_from,
    scores_at,
    visit_at,
    workspace_opener,
)

VISIT_BYTES = VISIT.itemsize


def forward(dtype, lanes, vectors, rows, _added_rows):
    """The kernel for one element type and vector width: `kernel(params, workspace, most)` does up to `most` tasks.

    If the params have a rectangle of weights, it computes only that, from the m and l of an earlier pass; else the
    output, m, l and the primitives.

    It returns the number of tasks not yet taken when it stopped. Any number of threads may run it on the same params,
    each with its own workspace.
    """
    prepare, finish = packing(dtype, lanes, vectors)
    visible_keys = masking(dtype, lanes, vectors).visible_keys
    take_block, write_weights = panel_pass(dtype, lanes, vectors, rows)
    begin_task, read_panel, end_task = primitives(dtype, lanes, vectors)
    rows_at_hand = half_precision(dtype, lanes).rows_at_hand
    _, _, length, line = sizes(dtype, lanes, vectors)
    params_at, open_workspace = record_at(PARAMS["forward"]), workspace_opener("forward")

    @compiled
    def panel_of(p, work, slot):
        return panel_at(work.panels + slot * p.panel.size)

    @compiled
    def scores_of(p, work, panel, keys):
        """The address for a block's scores: in the panel's scores, if primitives need them later, else in a buffer."""
        if p.primitives.asked == 0:
            return work.P
        visit = visit_at(panel.visits + panel.visit_count * VISIT_BYTES)
        visit.a, visit.e = keys.a, keys.e
        panel.visit_count += 1
        return scores_at(panel, keys.a, line)

    @compiled
    def sweep(p, work, batch, head, first_query, count, care):
        """Process one panel or several over all the keys. Returns a bit for each panel, set if it is finite."""
        panels = (count + length - 1) // length
        begin, end, seen = p.M, 0, 0
        for slot in range(panels):
            first = slot * length
            panel = prepare(p, work, slot, batch, head, first_query + first, min(length, count - first))
            begin, end = min(begin, panel.first_key), max(end, panel.end_key)
        key_head = head // p.group
        for block in range(begin - begin % KEY_BLOCK, end, KEY_BLOCK):
            last = min(block + KEY_BLOCK, p.M)
            K = rows_at_hand(p, p.k, work.keys, batch, key_head, p.D, block, last)
            V = rows_at_hand(p, p.v, work.values, batch, key_head, p.E, block, last)
            for slot in range(panels):
                panel = panel_of(p, work, slot)
                keys = visible_keys(p, work, panel, block, last)
                if keys.a >= keys.e:
                    continue
                seen += panel.count * (keys.e - keys.a)
                S = scores_of(p, work, panel, keys)
                from_a = keys.a - block
                take_block(p, work, panel, S, rows_from(K, from_a), rows_from(V, from_a), keys, care)
        add_to_field(p, "work", seen)
        finite = 0
        for slot in range(panels):
            if finish(p, work, panel_of(p, work, slot), care):
                finite |= 1 << slot
        return finite

    @compiled
    def keys_of(p, work, panels):
        """The keys [a, e) that any of the task's panels needs."""
        a, e = p.M, 0
        for slot in range(panels):
            panel = panel_of(p, work, slot)
            if panel.first_key < panel.end_key:
                a, e = min(a, panel.first_key), max(e, panel.end_key)
        return a, e

    @compiled
    def attend(p, work, batch, head, first_query, count):
        """A task: a block of queries, over all the keys."""
        reads = p.primitives.asked != 0
        finite, panels = sweep(p, work, batch, head, first_query, count, FAST), (count + length - 1) // length
        a, e = keys_of(p, work, panels)
        if reads:
            begin_task(p, work, a, e)
            for slot in range(panels):
                if (finite >> slot) & 1:
                    read_panel(p, work, panel_of(p, work, slot))
        for slot in range(panels):
            if not (finite >> slot) & 1:
                first = slot * length
                n, care, done = min(length, count - first), CAREFUL, 0
                while done == 0 and care <= SCALED_DOWN:
                    done = sweep(p, work, batch, head, first_query + first, n, care)
                    care += 1
                if reads:
                    read_panel(p, work, panel_of(p, work, 0))
        if reads:
            end_task(p, work, batch, head, a, e)

    @compiled
    def any_wanted(places, a, e):
        """Whether the rectangle has any of the rows or columns [a, e) of the matrix."""
        wanted = False
        for i in range(a, e):
            wanted = wanted or load_i32(places + 4 * i) >= 0
        return wanted

    @compiled
    def write_panel(p, work, batch, head, first_query, count):
        """Write the rectangle's part of a panel's rows of the weight matrix."""
        panel = prepare(p, work, 0, batch, head, first_query, count)
        begin, end = panel.first_key, panel.end_key
        for block in range(begin - begin % KEY_BLOCK, end, KEY_BLOCK):
            last = min(block + KEY_BLOCK, p.M)
            if not any_wanted(p.rectangle.column_places, block, last):
                continue
            keys = visible_keys(p, work, panel, block, last)
            if keys.a < keys.e:
                K = rows_at_hand(p, p.k, work.keys, batch, head // p.group, p.D, block, last)
                write_weights(p, work, panel, rows_from(K, keys.a - block), keys)

    @compiled
    def write_block(p, work, batch, head, first_query, count):
        """A task, where a rectangle of weights is requested."""
        for first in range(first_query, first_query + count, length):
            n = min(length, first_query + count - first)
            if any_wanted(p.rectangle.row_places, first, first + n):
                write_panel(p, work, batch, head, first, n)

    def kernel(params, workspace, most):
        p = params_at(params)
        work = open_workspace(p.workspace, workspace)
        per_block = p.panels * length
        while most > 0:
            # From the last block to the first: with a causal mask, the last ones take longest.
            task = p.tasks - 1 - add_to_field(p, "next_task", 1)
            if task < 0:
                return 0
            most -= 1
            block = task % p.blocks
            head = (task // p.blocks) % p.H
            batch = task // (p.blocks * p.H)
            first_query = block * per_block
            count = min(per_block, p.N - first_query)
            if p.rectangle.address != 0:
                write_block(p, work, batch, head, first_query, count)
            else:
                attend(p, work, batch, head, first_query, count)
        return max(p.tasks - p.next_task, 0)

    return kernel

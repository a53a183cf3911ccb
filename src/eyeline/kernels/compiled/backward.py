"""The backward pass: the gradients of the loss in queries, keys and values, from the gradient in the output.

With weights P = softmax(S), S = scale · q·k and output o = Σ P v, and do the gradient in o (Dao et al. 2022, B.2):

    dv_j = Σ_i P_ij do_i    dP_ij = do_i · v_j    dS_ij = P_ij (dP_ij - delta_i), delta_i = Σ_j P_ij dP_ij = do_i · o_i
    dq_i = scale Σ_j dS_ij k_j    dk_j = scale Σ_i dS_ij q_i

Weights are recomputed from the forward pass's m and l. Each task is a stripe of one key head's keys: it accumulates
their dk and dv, and goes over the blocks of queries, from the last to the first, of all the heads that share the keys.
dq is summed over the keys in order, block by block: threads with stripes of the same head wait for one another (see
`ticket_lock`). Stripes are handed out in order, so a thread only ever waits for one that is running.

A key's gradients are sums over blocks of queries at fixed positions, a query's over blocks of keys, so their bits
depend neither on the threads nor on the stripes. Hidden pairs add 0. Where keys, values, queries or gradients aren't
finite, 0 times them isn't 0: that pair of blocks is then multiplied carefully, leaving out hidden pairs.

Nothing here allocates, raises or calls back, so the machine code stands alone (see `compile`).
"""

from __future__ import annotations

from eyeline.kernels.compiled.block_pair import block_pair
from eyeline.kernels.compiled.memory import load_i32, width, word
from eyeline.kernels.compiled.params import PARAMS
from eyeline.kernels.compiled.programs import KEY_BLOCK, QUERY_BLOCK, sizes
from eyeline.kernels.compiled.records import add_to_field, compiled, head_of, record_at, workspace_opener
from eyeline.kernels.compiled.rows import rows_of_numbers
from eyeline.kernels.compiled.staging import staging
from eyeline.kernels.compiled.ticket_lock import release, wait_for


def backward(dtype, lanes, vectors, rows, added_rows):
    """The kernel for one element type and vector width: `kernel(params, workspace, most)` does up to `most` tasks.

    It returns the number of tasks not yet taken when it stopped. Any number of threads may run it on the same params,
    each with its own workspace.
    """
    W = width(dtype, lanes)
    load_scalar, store_scalar = W.load_scalar, W.store_scalar
    size, _, _, _ = sizes(dtype, lanes, vectors)
    take_queries, take_keys, write_keys = staging(dtype, lanes, vectors)
    weigh, add_up = block_pair(dtype, lanes, vectors, rows, added_rows)
    _, copy_row, clear, _ = rows_of_numbers(dtype, lanes, vectors)
    params_at, open_workspace = (
        record_at(PARAMS["backward"]),
        workspace_opener("backward"),
    )

    @compiled
    def copy_scalars(source, count, target):
        for i in range(count):
            store_scalar(target + i * size, load_scalar(source + i * size))

    @compiled
    def sweep_delta(p, work, batch, head, block, begin, end, first, last):
        """A block of queries, which needs the keys [first, last), against the stripe of keys [begin, end): only the
        primitives' part of delta."""
        first_query = block * QUERY_BLOCK
        count = min(QUERY_BLOCK, p.N - first_query)
        group = batch * p.H + head
        delta, lock = p.delta + (group * p.N + first_query) * size, p.tickets + (group * p.blocks + block) * 8
        ticket = begin // p.stripe - first // p.stripe
        finite = take_queries(p, work, batch, head, first_query, count, ticket == 0)
        wait_for(lock, ticket)
        copy_scalars(delta, count, work.delta)
        for a in range(max(begin, first - first % KEY_BLOCK), min(end, last), KEY_BLOCK):
            e = min(a + KEY_BLOCK, p.M)
            careful = not (finite and word(work.finite, (a - begin) // KEY_BLOCK) != 0)
            weigh(p, work, count, begin, a, e, careful)
        copy_scalars(work.delta, count, delta)
        release(lock)

    @compiled
    def sweep(p, work, batch, head, block, begin, end, first, last):
        """A block of queries, which needs the keys [first, last), against the stripe of keys [begin, end)."""
        first_query = block * QUERY_BLOCK
        count = min(QUERY_BLOCK, p.N - first_query)
        group = batch * p.H + head
        dq, lock = p.dq + (group * p.N + first_query) * p.D * size, p.tickets + (group * p.blocks + block) * 8
        ticket = begin // p.stripe - first // p.stripe
        finite = take_queries(p, work, batch, head, first_query, count, ticket == 0)
        has_begun, seen = False, 0
        if p.step_gradients != 0 or p.factor_gradients != 0:
            # Each block of keys then adds to dq and to gradients of steps and factors.
            wait_for(lock, ticket)
        for a in range(max(begin, first - first % KEY_BLOCK), min(end, last), KEY_BLOCK):
            e = min(a + KEY_BLOCK, p.M)
            careful = not (finite and word(work.finite, (a - begin) // KEY_BLOCK) != 0)
            looked, whole = weigh(p, work, count, begin, a, e, careful)
            if looked == 0:
                continue
            seen += looked
            if not has_begun:
                has_begun = True
                wait_for(lock, ticket)
                if ticket == 0:
                    clear(work.dq, count * p.line_d)
                else:
                    for i in range(count):
                        copy_row(dq + i * p.D * size, size, p.D, work.dq + i * p.line_d)
            add_up(p, work, count, begin, a, e, whole, careful)
        wait_for(lock, ticket)
        if not has_begun and ticket == 0:
            clear(work.dq, count * p.line_d)
        if has_begun or ticket == 0:
            for i in range(count):
                copy_row(work.dq + i * p.line_d, size, p.D, dq + i * p.D * size)
        release(lock)
        add_to_field(p, "work", seen)

    @compiled
    def sweep_stripe(p, work, batch, key_head, begin, end):
        """A stripe of keys, against the blocks of queries of all heads that share them."""
        take_keys(p, work, batch, key_head, begin, end)
        for head in range(key_head * p.group, (key_head + 1) * p.group):
            reach = head_of(p.reach, batch, head)
            for block in range(p.blocks - 1, -1, -1):
                at = reach.at + block * reach.token
                first, last = load_i32(at), load_i32(at + 4)
                if first < last and first < end and last > begin:
                    if p.preliminary != 0:
                        sweep_delta(p, work, batch, head, block, begin, end, first, last)
                    else:
                        sweep(p, work, batch, head, block, begin, end, first, last)
        if p.preliminary == 0:
            write_keys(p, work, batch, key_head, begin, end)

    def kernel(params, workspace, most):
        p = params_at(params)
        work = open_workspace(p.workspace, workspace)
        heads = p.B * p.G
        units = heads * ((p.M + p.stripe - 1) // p.stripe)
        while most > 0:
            task = add_to_field(p, "next_task", 1)
            if task >= p.tasks:
                return 0
            most -= 1
            # The first stripes of all heads, then the second ones, and so on. A task is one stripe; or, where gradients
            # of steps are sums over the batch or all heads too, all stripes of a head, or all stripes.
            unit = task
            while unit < units:
                begin = unit // heads * p.stripe
                sweep_stripe(p, work, (unit % heads) // p.G, unit % p.G, begin, min(begin + p.stripe, p.M))
                unit += p.tasks
        return max(p.tasks - p.next_task, 0)

    return kernel

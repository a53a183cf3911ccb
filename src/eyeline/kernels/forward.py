"""The forward pass: blocks of queries against blocks of keys, with the softmax kept up to date on the way.

Each task is one head's block of queries, cut into panels that lie in the vector lanes (see `tiles`). For every block
of keys that the mask leaves, and every panel: scores, mask, new maximum, weights 2^(score - maximum), and the values
added up. What is added up is rescaled when a row's maximum grows (online softmax: Milakov and Gimelshein 2018; Dao et
al. 2022). Scores are in base 2: queries are multiplied by scale · log2 e while they are packed.

A weight of 0 times a NaN is NaN, which a value that the mask hides must not do to its neighbours. So a panel whose
result isn't finite is done once more, carefully: hidden keys are then left out one by one. What is finite costs
nothing for it.

Nothing here allocates, raises or calls back, so the machine code stands alone (see `compile`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from eyeline.kernels import simd
from eyeline.kernels.layout import KEY_BLOCK, SUM_BLOCK, Word
from eyeline.kernels.simd import (
    add_to,
    any_nonfinite,
    below,
    equal,
    exp2,
    fma,
    load_i8,
    load_i32,
    maximum,
    select,
    store_i8,
    store_word,
    word,
)
from eyeline.kernels.tiles import product_tile, transpose_tile, weights_tile

compiled = njit(error_model="numpy", boundscheck=False)

# Numba takes plain integers from here as constants.
(NEXT, WORK, TASKS, HEADS, GROUP, QUERIES, KEYS, WIDTH, VALUE_WIDTH, BLOCKS, PANELS, FACTOR) = map(int, list(Word)[:12])
(Q, K, V) = int(Word.Q), int(Word.K), int(Word.V)
(OUT, WEIGHTS, MAXIMA, SUMS) = map(int, (Word.OUT, Word.WEIGHTS, Word.MAXIMA, Word.SUMS))
(BOUNDS, INTERVALS, ALLOWED) = map(int, (Word.BOUNDS, Word.INTERVALS, Word.ALLOWED))
(S_STATE, S_STATE_SIZE, S_OUT, S_MAXIMA, S_SUMS, S_BOUNDS, S_RANGE, S_WEIGHTS, S_FACTORS, S_TOPS, S_ADDED, S_FLAGS) = (
    map(int, list(Word)[Word.S_STATE : Word.S_FLAGS + 1])
)


@compiled
def place(p, array, batch, head):
    """Where one head of an array begins, and its strides of token and column."""
    at = word(p, array) + batch * word(p, array + 1) + head * word(p, array + 2)
    return at, word(p, array + 3), word(p, array + 4)


def panel(dtype, lanes, most_vectors, rows, value_rows):
    """The steps for panels of `most_vectors` · `lanes` queries: prepare, take in a block of keys, finish.

    A panel with fewer queries works on as many `vectors` as these fill; its lines are as long.
    """
    W = simd.width(dtype, lanes)
    load, store, splat, load_ints, splat_int = W.load, W.store, W.splat, W.load_ints, W.splat_int
    load_scalar, store_scalar, load_flags, store_int = W.load_scalar, W.store_scalar, W.load_flags, W.store_int
    size = np.dtype(dtype).itemsize
    step = lanes * size
    length = most_vectors * lanes
    line = length * size
    zero, infinity, hidden = dtype(0), dtype(np.inf), dtype(-1)
    full = [product_tile(dtype, lanes, most_vectors, most_vectors, r, scaled=True) for r in value_rows]
    thin = [product_tile(dtype, lanes, most_vectors, 1, r, scaled=True) for r in value_rows]
    (most, some, one), (most_thin, some_thin, one_thin) = full, thin
    scores_tile = product_tile(dtype, lanes, most_vectors, most_vectors, rows, scaled=False)
    scores_tile_thin = product_tile(dtype, lanes, most_vectors, 1, rows, scaled=False)
    weights = weights_tile(dtype, lanes, most_vectors, most_vectors)
    weights_thin = weights_tile(dtype, lanes, most_vectors, 1)
    r_most, r_some, _ = value_rows
    transpose = transpose_tile(dtype, lanes)

    @compiled
    def prepare(p, state, batch, head, first_query, count, vectors):
        """Pack `count` queries and their intervals of keys; note which keys the panel needs."""
        at, token, column = place(p, Q, batch, head)
        at += first_query * token
        D = word(p, WIDTH)
        factor = load_scalar(p + 8 * FACTOR)
        whole = 0
        if column == size:
            whole = D - D % lanes
            for g in range(0, vectors * lanes, lanes):
                last = max(min(lanes - 1, count - 1 - g), 0)
                source = at + min(g, count - 1) * token
                for d in range(0, whole, lanes):
                    transpose(source + d * size, token, last, state + d * line + g * size, line, lanes, splat(factor))
        for d in range(whole, D):
            for i in range(length):
                x = load_scalar(at + min(i, count - 1) * token + d * column)
                store_scalar(state + d * line + i * size, x * factor)

        maxima, sums, out = state + word(p, S_MAXIMA), state + word(p, S_SUMS), state + word(p, S_OUT)
        for w in range(vectors):
            store(maxima + w * step, splat(-infinity))
            store(sums + w * step, splat(zero))
        for w in range(word(p, VALUE_WIDTH) * most_vectors):
            store(out + w * step, splat(zero))

        # The keys that any query needs, [first, last), and those which every one may see, [full_first, full_last).
        M = word(p, KEYS)
        first, last, full_first, full_last = 0, M, 0, M
        if word(p, BOUNDS) != 0:
            first, last = M, 0
            at, token, _ = place(p, BOUNDS, batch, head)
            count_intervals = word(p, INTERVALS)
            for i in range(length):
                source = at + (first_query + min(i, count - 1)) * token
                for k in range(count_intervals):
                    begin, end = load_i32(source + 8 * k), load_i32(source + 8 * k + 4)
                    target = state + word(p, S_BOUNDS) + (2 * k * length + i) * 4
                    store_int(target, begin)
                    store_int(target + length * 4, end - begin)
                    if begin < end:
                        first, last = min(first, begin), max(last, end)
                    full_first, full_last = max(full_first, begin), min(full_last, end)
            if count_intervals > 1:
                full_last = full_first
        if word(p, ALLOWED) != 0:
            full_last = full_first
        ranges = state + word(p, S_RANGE)
        store_word(ranges, first)
        store_word(ranges + 8, last)
        store_word(ranges + 16, full_first)
        store_word(ranges + 24, full_last)

    @compiled
    def narrowed(p, state, a, e):
        """The part of the keys [a, e) that some query's intervals touch."""
        first, last = e, a
        bounds = state + word(p, S_BOUNDS)
        for k in range(word(p, INTERVALS)):
            for i in range(length):
                begin = load_i32(bounds + (2 * k * length + i) * 4)
                end = begin + load_i32(bounds + ((2 * k + 1) * length + i) * 4)
                begin, end = max(begin, a), min(end, e)
                if begin < end:
                    first, last = min(first, begin), max(last, end)
        return first, last

    @compiled
    def hide(p, state, scratch, batch, head, first_query, count, vectors, a, e):
        """Set the scores of keys that a query may not look at to -inf."""
        scores = scratch + word(p, S_WEIGHTS)
        minus = splat(-infinity)
        if word(p, BOUNDS) != 0:
            bounds = state + word(p, S_BOUNDS)
            if word(p, INTERVALS) == 1:
                for w in range(vectors):
                    begin = load_ints(bounds + w * lanes * 4)
                    extent = load_ints(bounds + (length + w * lanes) * 4)
                    for j in range(a, e):
                        at = scores + (j - a) * line + w * step
                        seen = below(splat_int(np.int32(j)) - begin, extent)
                        store(at, select(seen, load(at), minus))
            else:
                for j in range(a, e):
                    for w in range(vectors):
                        at = scores + (j - a) * line + w * step
                        seen = below(splat_int(np.int32(0)), splat_int(np.int32(0)))
                        for k in range(word(p, INTERVALS)):
                            begin = load_ints(bounds + (2 * k * length + w * lanes) * 4)
                            extent = load_ints(bounds + ((2 * k + 1) * length + w * lanes) * 4)
                            seen = seen | below(splat_int(np.int32(j)) - begin, extent)
                        store(at, select(seen, load(at), minus))
        if word(p, ALLOWED) != 0:
            flags = scratch + word(p, S_FLAGS)
            source, token, column = place(p, ALLOWED, batch, head)
            for i in range(length):
                at = source + (first_query + min(i, count - 1)) * token
                for j in range(a, e):
                    store_i8(flags + (j - a) * length + i, load_i8(at + j * column))
            for j in range(e - a):
                for w in range(vectors):
                    at = scores + j * line + w * step
                    store(at, select(load_flags(flags + j * length + w * lanes), load(at), minus))

    @compiled
    def highest(p, scratch, vectors, n):
        """The largest of n keys' scores."""
        scores, tops = scratch + word(p, S_WEIGHTS), scratch + word(p, S_TOPS)
        for w in range(vectors):
            top = splat(-infinity)
            for j in range(n):
                top = maximum(top, load(scores + j * line + w * step))
            store(tops + w * step, top)

    @compiled
    def weigh(p, state, scratch, vectors, n, careful):
        """Turn n keys' scores into weights relative to the row's new maximum; update maxima, sums and factors."""
        scores, factors, tops = scratch + word(p, S_WEIGHTS), scratch + word(p, S_FACTORS), scratch + word(p, S_TOPS)
        maxima, sums, added = state + word(p, S_MAXIMA), state + word(p, S_SUMS), scratch + word(p, S_ADDED)
        for w in range(vectors):
            old = load(maxima + w * step)
            new = maximum(load(tops + w * step), old)
            store(maxima + w * step, new)
            # A row that has seen nothing yet has maximum -inf, and -inf - -inf isn't a number.
            top = select(equal(new, splat(-infinity)), splat(zero), new)
            store(tops + w * step, top)
            store(factors + w * step, exp2(old - top))
        if careful:
            for w in range(vectors):
                top, total = load(tops + w * step), splat(zero)
                for begin in range(0, n, SUM_BLOCK):
                    part = splat(zero)
                    for j in range(begin, min(begin + SUM_BLOCK, n)):
                        at = scores + j * line + w * step
                        value = load(at)
                        weight = exp2(value - top)
                        part = part + weight
                        store(at, select(equal(value, splat(-infinity)), splat(hidden), weight))
                    total = total + part
                store(added + w * step, total)
        elif vectors == 1:
            weights_thin(scores, n, tops, added)
        else:
            weights(scores, n, tops, added)
        for w in range(vectors):
            store(sums + w * step, fma(load(sums + w * step), load(factors + w * step), load(added + w * step)))

    @compiled
    def add_values_carefully(p, state, scratch, vectors, n, values, token, column):
        """As the tiles do, but without what is hidden."""
        weights, factors = scratch + word(p, S_WEIGHTS), scratch + word(p, S_FACTORS)
        out = state + word(p, S_OUT)
        for e in range(word(p, VALUE_WIDTH)):
            for w in range(vectors):
                even, odd = splat(zero), splat(zero)
                for j in range(n):
                    weight = load(weights + j * line + w * step)
                    value = splat(load_scalar(values + j * token + e * column))
                    if j % 2 == 0:
                        even = select(equal(weight, splat(hidden)), even, fma(value, weight, even))
                    else:
                        odd = select(equal(weight, splat(hidden)), odd, fma(value, weight, odd))
                at = out + e * line + w * step
                store(at, fma(load(at), load(factors + w * step), even + odd))

    @compiled
    def score(p, state, scratch, batch, head, first_query, count, vectors, a, e):
        """The scores of the keys [a, e), hidden ones at -inf, and the largest of them."""
        n = e - a
        keys, token, column = place(p, K, batch, head // word(p, GROUP))
        scores, tops = scratch + word(p, S_WEIGHTS), scratch + word(p, S_TOPS)
        for w in range(vectors):
            store(tops + w * step, splat(-infinity))
        D = word(p, WIDTH)
        for j in range(0, n, rows):
            at, to = keys + (a + j) * token, scores + j * line
            if vectors == 1:
                scores_tile_thin(at, token, column, n - 1 - j, state, D, to, tops)
            else:
                scores_tile(at, token, column, n - 1 - j, state, D, to, tops)
        ranges = state + word(p, S_RANGE)
        if a < word(ranges, 2) or e > word(ranges, 3):
            hide(p, state, scratch, batch, head, first_query, count, vectors, a, e)
            highest(p, scratch, vectors, n)

    @compiled
    def take_in(p, state, scratch, batch, head, first_query, count, vectors, a, e, careful):
        """Take the keys [a, e), all of one block, into the panel's sums. Returns how many keys were looked at."""
        ranges = state + word(p, S_RANGE)
        a, e = max(a, word(ranges, 0)), min(e, word(ranges, 1))
        if a < e and word(p, BOUNDS) != 0 and word(p, INTERVALS) > 1:
            a, e = narrowed(p, state, a, e)
        if a >= e:
            return 0
        a -= a % SUM_BLOCK
        n = e - a
        score(p, state, scratch, batch, head, first_query, count, vectors, a, e)
        weigh(p, state, scratch, vectors, n, careful)

        scores = scratch + word(p, S_WEIGHTS)
        values, token, column = place(p, V, batch, head // word(p, GROUP))
        values += a * token
        if careful:
            add_values_carefully(p, state, scratch, vectors, n, values, token, column)
            return n
        E = word(p, VALUE_WIDTH)
        factors, out = scratch + word(p, S_FACTORS), state + word(p, S_OUT)
        done = 0
        while done < E:
            left = E - done
            at, to = values + done * column, out + done * line
            # Two tiles of some rows do better than a full one and a leftover.
            if left >= r_most and (left != 2 * r_some or r_most == 2 * r_some):
                take = r_most
                if vectors == 1:
                    most_thin(at, column, token, take, scores, n, to, factors)
                else:
                    most(at, column, token, take, scores, n, to, factors)
            elif left >= r_some:
                take = r_some
                if vectors == 1:
                    some_thin(at, column, token, take, scores, n, to, factors)
                else:
                    some(at, column, token, take, scores, n, to, factors)
            else:
                take = 1
                if vectors == 1:
                    one_thin(at, column, token, take, scores, n, to, factors)
                else:
                    one(at, column, token, take, scores, n, to, factors)
            done += take
        return n

    @compiled
    def finish(p, state, batch, head, first_query, count, vectors):
        """Divide by the sums and write the rows. Returns whether all that was written is finite."""
        E = word(p, VALUE_WIDTH)
        row = (batch * word(p, HEADS) + head) * word(p, QUERIES) + first_query
        target = word(p, OUT) + row * E * size
        maxima, sums, out = state + word(p, S_MAXIMA), state + word(p, S_SUMS), state + word(p, S_OUT)
        finite = True
        ones = splat(dtype(1))
        for w in range(vectors):
            total = load(sums + w * step)
            inverse = ones / select(equal(total, splat(zero)), ones, total)
            for e in range(E):
                at = out + e * line + w * step
                x = load(at) * inverse
                store(at, x)
                if any_nonfinite(x):
                    finite = False
        whole = E - E % lanes
        for g in range(0, count, lanes):
            rows_left = min(lanes, count - g)
            for e in range(0, whole, lanes):
                transpose(
                    out + e * line + g * size, line, lanes, target + (g * E + e) * size, E * size, rows_left, ones
                )
        for i in range(count):
            for e in range(whole, E):
                store_scalar(target + (i * E + e) * size, load_scalar(out + e * line + i * size))
            store_scalar(word(p, MAXIMA) + (row + i) * size, load_scalar(maxima + i * size))
            store_scalar(word(p, SUMS) + (row + i) * size, load_scalar(sums + i * size))
        return finite

    @compiled
    def write_weights(p, state, scratch, batch, head, first_query, count, vectors):
        """Write the panel's rows of the weight matrix, given their maxima and sums. What is hidden stays zero."""
        M = word(p, KEYS)
        row = (batch * word(p, HEADS) + head) * word(p, QUERIES) + first_query
        scores, tops, added = scratch + word(p, S_WEIGHTS), scratch + word(p, S_TOPS), scratch + word(p, S_ADDED)
        maxima, inverses = state + word(p, S_MAXIMA), state + word(p, S_SUMS)
        for i in range(vectors * lanes):
            top, total = load_scalar(word(p, MAXIMA) + (row + min(i, count - 1)) * size), dtype(0)
            if top == -infinity:
                top = zero
            else:
                total = dtype(1) / load_scalar(word(p, SUMS) + (row + min(i, count - 1)) * size)
            store_scalar(maxima + i * size, top)
            store_scalar(inverses + i * size, total)
        ranges = state + word(p, S_RANGE)
        for a in range(word(ranges, 0), word(ranges, 1), KEY_BLOCK):
            e = min(a + KEY_BLOCK, word(ranges, 1))
            n = e - a
            score(p, state, scratch, batch, head, first_query, count, vectors, a, e)
            for w in range(vectors):
                store(tops + w * step, load(maxima + w * step))
            if vectors == 1:
                weights_thin(scores, n, tops, added)
            else:
                weights(scores, n, tops, added)
            whole = n - n % lanes
            for g in range(0, count, lanes):
                inverse = load(inverses + g * size)
                target = word(p, WEIGHTS) + ((row + g) * M + a) * size
                for j in range(0, whole, lanes):
                    source = scores + j * line + g * size
                    transpose(source, line, lanes, target + j * size, M * size, min(lanes, count - g), inverse)
            for i in range(count):
                target = word(p, WEIGHTS) + ((row + i) * M + a) * size
                inverse = load_scalar(inverses + i * size)
                for j in range(whole, n):
                    store_scalar(target + j * size, load_scalar(scores + j * line + i * size) * inverse)

    return prepare, take_in, finish, write_weights


def forward(dtype, lanes, vectors, rows, value_rows):
    """The kernel for one element type and vector width: `kernel(words, scratch, most)` does up to `most` tasks.

    If the words give a place for weights, it writes these, from the maxima and sums of an earlier pass; else the
    output.

    It returns the number of tasks that were left to take when it stopped, 0 once all are taken. Any number of threads
    may run it on the same words, each with a scratch of its own.
    """
    prepare, take_in, finish, write_weights = panel(dtype, lanes, vectors, rows, value_rows)
    length = lanes * vectors

    @compiled
    def sweep(p, scratch, batch, head, first_query, count, careful):
        """One panel or several, side by side, over all the keys. Returns which of them are finite, as bits."""
        states, size = scratch + word(p, S_STATE), word(p, S_STATE_SIZE)
        M = word(p, KEYS)
        begin, end, seen = M, 0, 0
        for g in range(0, count, length):
            n = min(length, count - g)
            state = states + (g // length) * size
            prepare(p, state, batch, head, first_query + g, n, 1 if n <= lanes else vectors)
            ranges = state + word(p, S_RANGE)
            begin, end = min(begin, word(ranges, 0)), max(end, word(ranges, 1))
        for a in range(begin - begin % KEY_BLOCK, end, KEY_BLOCK):
            e = min(a + KEY_BLOCK, M)
            for g in range(0, count, length):
                n = min(length, count - g)
                state = states + (g // length) * size
                used = 1 if n <= lanes else vectors
                seen += n * take_in(p, state, scratch, batch, head, first_query + g, n, used, a, e, careful)
        add_to(p + 8 * WORK, seen)
        finite = 0
        for g in range(0, count, length):
            n = min(length, count - g)
            state = states + (g // length) * size
            if finish(p, state, batch, head, first_query + g, n, 1 if n <= lanes else vectors):
                finite |= 1 << (g // length)
        return finite

    def kernel(p, scratch, most):
        tasks, blocks, heads = word(p, TASKS), word(p, BLOCKS), word(p, HEADS)
        N, per_block = word(p, QUERIES), word(p, PANELS) * length
        while most > 0:
            # From the last block to the first: under a causal mask the last ones are the longest.
            task = tasks - 1 - add_to(p, 1)
            if task < 0:
                return 0
            most -= 1
            block = task % blocks
            head = (task // blocks) % heads
            batch = task // (blocks * heads)
            first_query = block * per_block
            count = min(per_block, N - first_query)
            if word(p, WEIGHTS) != 0:
                for g in range(0, count, length):
                    n = min(length, count - g)
                    used = 1 if n <= lanes else vectors
                    prepare(p, scratch, batch, head, first_query + g, n, used)
                    write_weights(p, scratch, scratch, batch, head, first_query + g, n, used)
                continue
            finite = sweep(p, scratch, batch, head, first_query, count, False)
            for g in range(0, count, length):
                if not (finite >> (g // length)) & 1:
                    sweep(p, scratch, batch, head, first_query + g, min(length, count - g), True)
        return max(tasks - word(p, NEXT), 0)

    return kernel

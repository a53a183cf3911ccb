"""Readouts: the reference's definitions against a loop over the pairs, and against torch; changed scores; errors."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import READOUTS, masks, problems, readouts, score_stacks

import eyeline as el
from eyeline import readouts as room
from eyeline import reference
from eyeline.masks import AttentionShape

small = problems(most=17).flatmap(
    lambda p: st.tuples(st.just(p), masks(p), score_stacks(p), readouts(p), st.integers(0, 2**32))
)


def arrays(problem, seed, width=3):
    rng = np.random.default_rng(seed)
    shape = (*problem.lead, problem.heads)
    q, k, v = (rng.standard_normal((*shape, n, width)) * 2 for n in (problem.queries, problem.keys, problem.keys))
    return q, k, v


def word_by_word(readout, w, seen, problem):
    """What a readout says, from one head's weights (N, M), pair by pair; `seen` is where a query may look."""
    N, M = w.shape
    pairs = [(i, j) for i in range(N) for j in range(M)]
    match readout:
        case el.TopK(k):
            rows = []
            for i in range(N):
                best = sorted((-w[i, j], j) for j in range(M) if seen[i, j])[:k]
                rows.append([j for _, j in best] + [-1] * (k - len(best)))
            return np.array(rows, np.int64).reshape(N, k)
        case el.Entropy():
            return np.array([-sum(x * math.log(x) for x in row if x > 0) for row in w])
        case el.Received(reduce):
            looking = [i for i in range(N) if seen[i].any()]
            columns = [[w[i, j] for i in looking] or [0.0] for j in range(M)]
            how = {"sum": sum, "max": max, "mean": lambda column: sum(column) / len(column)}[reduce]
            return np.array([how(column) for column in columns])
        case el.MeanDistance(align):
            shift = M - N if align == "end" else 0
            return np.array([sum(w[i, j] * abs(i + shift - j) for j in range(M)) for i in range(N)])
        case el.OffsetMass(edges, align):
            shift = {"start": 0, "end": M - N, None: 0}.get(align, align)
            ranges = [range(low, high) for low, high in pairwise(edges)]
            sums = [sum(w[i, j] for j in range(M) if j - i - shift in r) for i in range(N) for r in ranges]
            return np.reshape(sums, (N, len(ranges)))
        case el.Pooled(rows, columns, reduce):
            R, C = min(rows, N), min(columns, M)
            if not R * C:
                return np.zeros((rows, columns))
            bins = [[[] for _ in range(C)] for _ in range(R)]
            for i, j in pairs:
                r = next(r for r in range(R) if r * N // R <= i < (r + 1) * N // R)
                c = next(c for c in range(C) if c * M // C <= j < (c + 1) * M // C)
                bins[r][c].append(w[i, j])
            small = [[np.mean(cell) if reduce == "mean" else max(cell) for cell in row] for row in bins]
            return np.array([[small[r * R // rows][c * C // columns] for c in range(columns)] for r in range(rows)])
        case el.Weights():
            return w[readout.rows(N)][:, readout.columns(M)]


@settings(max_examples=150)
@given(small)
def test_readouts_word_by_word(case):
    problem, mask, stack, read, seed = case
    q, k, v = arrays(problem, seed)
    done = reference.steps(q, k, v, mask=mask, scores=stack)
    seen = reference.observe(q, k, v, mask=mask, scores=stack, read=read)
    np.testing.assert_array_equal(seen.output, done.output)
    np.testing.assert_array_equal(seen.lse, done.lse)
    for kind in READOUTS:
        asked = any(isinstance(readout, kind) for readout in read)
        assert (kind in seen) == hasattr(seen, kind.name) == asked
    for readout in read:
        for at in np.ndindex(done.weights.shape[:-2]):
            w, visible = done.weights[at], done.visible[at]
            if getattr(readout, "times", None) is not None:
                lead = (*problem.lead, problem.heads)
                w = w * np.broadcast_to(readout.times.astype(np.float64), (*lead, problem.keys))[at]
            if isinstance(readout, el.GroupMass):
                groups = np.broadcast_to(readout.groups, (*problem.lead, problem.keys))[at[:-1]]
                want = [[row[groups == label].sum() for label in range(readout.count)] for row in w]
                want = np.reshape(want, (problem.queries, readout.count))
                np.testing.assert_allclose(seen.group_mass[at], want, atol=1e-12)
                continue
            want = word_by_word(readout, w, visible, problem)
            if isinstance(readout, el.TopK):
                np.testing.assert_array_equal(seen.top_k.keys[at], want)
                got = np.where(want >= 0, np.take_along_axis(w, np.maximum(want, 0), axis=1), 0) if w.size else 0
                np.testing.assert_array_equal(seen.top_k.weights[at], np.broadcast_to(got, want.shape))
                continue
            got = seen[type(readout)][at]
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, atol=1e-12)


@given(problems(most=17).flatmap(lambda p: st.tuples(st.just(p), masks(p), score_stacks(p), st.integers(0, 2**32))))
def test_rows_and_the_sinks_share_sum_to_one(case):
    problem, mask, stack, seed = case
    stack = [*(one for one in stack if not isinstance(one, el.Sinks)), el.Sinks(np.linspace(-1, 2, problem.heads))]
    done = reference.steps(*arrays(problem, seed), mask=mask, scores=stack)
    np.testing.assert_allclose(done.weights.sum(axis=-1) + done.sink, 1, rtol=1e-12)
    alone = ~done.visible.any(axis=-1)
    assert (done.sink[alone] == 1).all()
    logits = np.broadcast_to(np.linspace(-1, 2, problem.heads)[:, None], done.lse.shape)
    np.testing.assert_array_equal(done.lse[alone], logits[alone])
    assert (done.output[alone] == 0).all()
    # They are the weights without a sink, each a share of what the sink leaves.
    without = reference.steps(done.q, done.k, done.v, mask=mask, scores=stack[:-1])
    np.testing.assert_allclose(done.weights, without.weights * (1 - done.sink[..., None]), atol=1e-12)


def test_a_row_that_may_look_at_nothing():
    q, k, v = arrays(AttentionShape((2,), 3, 4, 5), 0)
    read = [
        el.TopK(2),
        el.Entropy(),
        el.Received("mean"),
        el.MeanDistance("end"),
        el.OffsetMass([-9, 9], "end"),
        el.GroupMass([0, 1, 0, 1, -1]),
        el.Weights(),
    ]
    mask = el.Padding(queries=[2], keys=[4])
    seen = reference.observe(q, k, v, mask=mask, read=read)
    for name in ("output", "entropy", "mean_distance", "offset_mass", "group_mass", "weights"):
        assert (getattr(seen, name)[:, :, 2:] == 0).all()
    assert (seen.lse[:, :, 2:] == -np.inf).all()
    assert (seen.top_k.keys[:, :, 2:] == -1).all()
    assert (seen.top_k.weights[:, :, 2:] == 0).all()
    alone = reference.observe(q[:, :, :2], k, v, mask=el.Padding(keys=[4]), read=[el.Received("mean")])
    np.testing.assert_allclose(seen.received, alone.received, rtol=1e-14)
    assert (seen.received[..., 4] == 0).all()
    none = reference.observe(q, k, v, mask=~mask & mask, read=[el.Received("mean"), el.Received("mean")][:1])
    assert (none.received == 0).all()


def test_torch_says_the_same():
    import torch

    q, k, v = arrays(AttentionShape((2,), 3, 7, 11), 1)
    seen = reference.observe(
        q, k, v, read=[el.TopK(4), el.Entropy(), el.Received("mean"), el.GroupMass(np.arange(11) // 4)]
    )
    weights = torch.softmax(torch.from_numpy(q @ np.swapaxes(k, -1, -2)) / math.sqrt(3), dim=-1)
    top = weights.topk(4, dim=-1)
    np.testing.assert_array_equal(seen.top_k.keys, top.indices.numpy())
    np.testing.assert_allclose(seen.top_k.weights, top.values.numpy(), rtol=1e-12)
    np.testing.assert_allclose(seen.entropy, torch.special.entr(weights).sum(-1).numpy(), rtol=1e-12)
    np.testing.assert_allclose(seen.received, weights.mean(-2).numpy(), rtol=1e-12)
    split = [part.sum(-1) for part in weights.split(4, dim=-1)]
    np.testing.assert_allclose(seen.group_mass, torch.stack(split, -1).numpy(), rtol=1e-12)


def test_a_sink_is_gpt_oss_s():
    import torch
    from torch import nn
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    q, k, v = arrays(AttentionShape((2,), 4, 6, 6), 2)
    module = nn.Module()
    module.sinks, module.num_key_value_groups = torch.tensor([0.5, -1.0, 2.0, 0.0], dtype=torch.float64), 2
    hidden = torch.from_numpy(np.where(el.Causal().dense(6), 0, -np.inf))[None, None]
    tensors = [torch.from_numpy(x) for x in (q, k[:, :2], v[:, :2])]
    output, weights = eager_attention_forward(module, *tensors, hidden, scaling=0.3)
    done = reference.steps(q, k[:, :2], v[:, :2], mask=el.Causal(), scale=0.3, scores=el.Sinks(module.sinks))
    np.testing.assert_allclose(done.weights, weights.numpy(), rtol=1e-12)
    np.testing.assert_allclose(done.output, output.transpose(1, 2).numpy(), rtol=1e-12)


def test_a_cap_is_gemma_2_s():
    import torch
    from torch import nn
    from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward

    q, k, v = arrays(AttentionShape((1,), 2, 6, 6), 3)
    module = nn.Module()
    module.num_key_value_groups = 1
    hidden = torch.from_numpy(np.where(el.Causal().dense(6), 0, -np.inf))[None, None]
    tensors = [torch.from_numpy(x.astype(np.float32)) for x in (q, k, v)]
    output, weights = eager_attention_forward(module, *tensors, hidden, scaling=0.9, softcap=2.0)
    done = reference.steps(q, k, v, mask=el.Causal(), scale=0.9, scores=[el.Softcap(2.0)])
    np.testing.assert_allclose(done.weights, weights.numpy(), atol=1e-6)
    np.testing.assert_allclose(done.output, output.transpose(1, 2).numpy(), atol=1e-5)


def test_minus_infinity_in_a_bias_hides_as_a_mask_does():
    q, k, v = arrays(AttentionShape((1,), 2, 5, 5), 4)
    allowed = el.Causal().dense(5)
    v[..., 4, :] = np.nan
    by_mask = reference.steps(q, k, v, mask=el.Causal())
    by_bias = reference.steps(q, k, v, scores=el.Bias(np.where(allowed, 0, -np.inf)))
    np.testing.assert_array_equal(by_mask.weights, by_bias.weights)
    np.testing.assert_array_equal(by_mask.output, by_bias.output)
    assert not np.isnan(by_mask.output[..., :4, :]).any()


def test_a_visible_value_counts_even_with_weight_zero():
    q, k = np.array([[1.0, 0.0]]), np.array([[0.0, 0.0], [-1e4, 0.0], [0.0, 0.0]])
    v = np.array([[1.0], [np.nan], [2.0]])
    done = reference.steps(q, k, v, scale=1.0)
    assert done.weights[0, 1] == 0
    assert np.isnan(done.output[0, 0])
    assert reference.steps(q, k, v, scale=1.0, mask=el.Dense(np.array([[True, False, True]]))).output[0, 0] == 1.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.TopK(0), "k must be a whole number, 1 or more, got 0"),
        (lambda: el.TopK(2.0), "k must be a whole number, 1 or more, got 2.0"),
        (lambda: el.TopK(True), "k must be a whole number, 1 or more, got True"),
        (lambda: el.Received("min"), 'reduce must be "sum", "mean" or "max", got \'min\''),
        (lambda: el.MeanDistance("middle"), 'align must be "start", "end", a key\'s number or None, got '),
        (lambda: el.OffsetMass("01"), "edges must be whole numbers, 2 or more, got '01'"),
        (lambda: el.OffsetMass(3), "edges must be whole numbers, 2 or more, got 3"),
        (lambda: el.OffsetMass([[0, 1]]), "edges must be whole numbers, 2 or more, got [[0, 1]]"),
        (lambda: el.OffsetMass([0, 1.5]), "edges must be whole numbers, got 1.5"),
        (lambda: el.OffsetMass([False, 1]), "edges must be whole numbers, got False"),
        (lambda: el.OffsetMass([0, 2**62]), f"edges must be from {-(2**61)} to {2**61}, got {2**62}"),
        (
            lambda: el.OffsetMass([1]),
            "edges must be 2 or more whole numbers, got 1; a range has a first edge and an end",
        ),
        (lambda: el.OffsetMass([0, 2, 2]), "edges must be in ascending order, each once, got 2 after 2"),
        (lambda: el.OffsetMass([0, 1], "middle"), 'align must be "start", "end", a key\'s number or None, got '),
        (lambda: el.Pooled(0, 4), "rows must be a whole number, 1 or more, got 0"),
        (lambda: el.Pooled(4, 1.5), "columns must be a whole number, 1 or more, got 1.5"),
        (lambda: el.Pooled(4, 4, "sum"), 'reduce must be "mean" or "max", got \'sum\''),
        (lambda: el.GroupMass(3), "groups must be whole numbers, one per key, got int64 array of shape ()"),
        (lambda: el.GroupMass([0.5]), "groups must be whole numbers, one per key, got float64 array of shape (1,)"),
        (lambda: el.GroupMass([-2]), "groups must be from 0, or -1 for none, got -2"),
        (lambda: el.GroupMass([0, 3], count=3), "groups must be below count, 3, got 3"),
        (lambda: el.GroupMass([0], count=-1), "count must be a whole number, 0 or more, got -1"),
        (lambda: room.chosen([el.TopK(1), el.TopK(2)], SQUARE), "read must hold each kind of readout once, got TopK 2"),
        (
            lambda: room.chosen(el.GroupMass([0, 1]), SQUARE),
            "groups must be one per key, broadcasting to (..., M) = (2, 3)",
        ),
        (lambda: room.chosen(el.Weights(queries=7), SQUARE), "queries must be positions from -3 to 2, got 7"),
        (
            lambda: room.chosen(el.MeanDistance(), AttentionShape((1,), 1, 2, 3)),
            "align must be given where queries and keys differ",
        ),
        (
            lambda: room.chosen(el.OffsetMass([0, 1]), AttentionShape((1,), 1, 2, 3)),
            "align must be given where queries and keys differ",
        ),
    ],
)
def test_errors_say_what_was_wrong(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


SQUARE = AttentionShape((2,), 1, 3, 3)


@pytest.mark.parametrize("read", [3, None, [None], "entropy", ["entropy"], np.ones(3)])
def test_what_is_no_readout_is_a_type_error(read):
    with pytest.raises(TypeError, match="read must hold readouts, such as eyeline"):
        room.chosen(read, SQUARE)


@pytest.mark.parametrize("read", [el.TopK, [el.Entropy(), el.TopK]])
def test_a_class_is_told_what_to_write(read):
    message = "read must hold readouts, got the class TopK; make one, as in eyeline.TopK(8) or eyeline.Entropy()"
    with pytest.raises(TypeError, match=re.escape(message)):
        el.observe(*np.ones((3, 2, 2)), read=read)


@pytest.mark.parametrize(
    ("readout", "text"),
    [
        (el.TopK(np.int64(3)), "TopK(k=3)"),
        (el.GroupMass([[0, 1], [-1, 4]]), "GroupMass(5 groups of 2 × 2 keys)"),
        (el.Pooled(3, 4), "Pooled(rows=3, columns=4, reduce='mean')"),
        (el.MeanDistance("end"), "MeanDistance(align='end')"),
        (el.OffsetMass(np.array([-2, 1])), "OffsetMass(edges=(-2, 1), align=None)"),
    ],
)
def test_readouts_print_as_what_they_ask(readout, text):
    assert repr(readout) == text

"""Changes of scores: steps do what the definition says; adjoints; other libraries' numbers; errors."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import nearer, problems, score_stacks, simple_score

import eyeline as el
from eyeline import scores
from eyeline.masks import AttentionShape

drawn = problems(most=33).flatmap(lambda problem: st.tuples(st.just(problem), score_stacks(problem)))
PARAMETRIC = (el.Alibi, el.RelativeBias, el.Bias)


def stepped(step, s, problem):
    """What a kernel makes of one step, on all the scores."""
    match step:
        case scores.Relative(table):
            i, j = np.arange(problem.queries)[:, None], np.arange(problem.keys)
            return s + np.broadcast_to(table, (problem.heads, table.shape[1]))[:, i - j + problem.keys - 1]
        case scores.Added(bias):
            return s + bias
        case scores.Capped(cap):
            return np.tanh(s / cap) * cap
        case scores.Called(function):
            found = [function(s[at], *at) for at in np.ndindex(s.shape)]
            return np.array(found, np.float64).reshape(s.shape)


@given(drawn, st.integers(0, 2**32))
def test_steps_do_what_the_definition_says(case, seed):
    problem, stack = case
    s = want = np.random.default_rng(seed).standard_normal(problem.shape) * 3
    for change in stack:
        want = change.apply(want, problem)
    lowered = scores.lower(stack, problem)
    for step in lowered.steps:
        s = stepped(step, s, problem)
    np.testing.assert_allclose(s, want, rtol=1e-12, atol=1e-12)
    assert (lowered.sinks is not None) == (bool(stack) and isinstance(stack[-1], el.Sinks))
    for step in lowered.steps:
        if isinstance(step, scores.Relative):
            assert step.table.shape in [(n, max(problem.queries + problem.keys - 1, 0)) for n in (1, problem.heads)]
        if isinstance(step, scores.Added):
            assert np.broadcast_shapes(step.bias.shape, problem.shape) == problem.shape
            assert step.bias.ndim == 4


def array_of(step):
    return step.table if isinstance(step, scores.Relative) else step.bias


@given(problems(most=33), st.sampled_from(PARAMETRIC), st.integers(0, 2**32))
def test_pulling_back_is_the_adjoint(problem, kind, seed):
    rng = np.random.default_rng(seed)
    change = simple_score(problem, kind, lambda options: options[rng.integers(len(options))], rng)
    parameters = change.parameters()
    direction = {name: rng.standard_normal(np.shape(value)) for name, value in parameters.items()}
    if not parameters:
        assert isinstance(change, el.Alibi)
        assert change.slopes is None
        direction = {"slopes": rng.standard_normal(problem.heads)}
        change = el.Alibi(np.zeros(problem.heads), change.align)
    # Each lowers to an array that is linear in its parameter.
    moved = array_of(change.with_parameters(direction).lower(problem))
    gradient = rng.standard_normal(moved.shape)
    back = change.pull_back(gradient, problem)
    assert back.keys() == direction.keys()
    for name, value in direction.items():
        assert back[name].shape == value.shape
        assert np.vdot(value, back[name]) == pytest.approx(np.vdot(moved, gradient), rel=1e-9, abs=1e-9)


def test_a_bias_over_several_leading_axes_pulls_back():
    problem = AttentionShape((2, 3), 4, 5, 6)
    rng = np.random.default_rng(0)
    for shape in [(5, 6), (1, 6), (4, 1, 6), (3, 4, 5, 6), (2, 1, 4, 1, 6), (2, 3, 1, 1, 1), (1, 1, 1, 5, 1)]:
        change = el.Bias(rng.standard_normal(shape))
        step = change.lower(problem)
        want = np.broadcast_to(change.array, (2, 3, 4, 5, 6)).reshape(problem.shape)
        np.testing.assert_array_equal(np.broadcast_to(step.bias, problem.shape), want)
        gradient = rng.standard_normal(step.bias.shape)
        back = change.pull_back(gradient, problem)["array"]
        assert back.shape == shape
        assert np.vdot(back, change.array) == pytest.approx(np.vdot(step.bias, gradient))


def test_a_bias_is_not_copied():
    array = np.zeros((3, 1, 5, 6))
    for given_array in (array, array[0], array[0, 0], array[:1]):
        assert np.shares_memory(el.Bias(given_array).lower(AttentionShape((3,), 4, 5, 6)).bias, array)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "far"), [(32, 128), (8, 20), (4, 3), (64, 256), (33, 100), (5, 1000), (32, 1024)])
def test_buckets_are_t5s(bidirectional, buckets, far):
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = np.arange(-3000, 3001)
    want = T5Attention._relative_position_bucket(torch.from_numpy(distance), bidirectional, buckets, far).numpy()
    got = el.RelativeBias(np.zeros((buckets, 1)), bidirectional, far).buckets(distance)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("decoder", [True, False])
def test_a_t5_layers_bias_is_ours(decoder):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    torch.manual_seed(0)
    layer = T5Attention(T5Config(is_decoder=decoder, num_heads=3), has_relative_attention_bias=True, layer_idx=0)
    want = layer.compute_bias(140, 140).detach().numpy()
    change = el.RelativeBias(layer.relative_attention_bias.weight, bidirectional=not decoder)
    np.testing.assert_allclose(
        change.apply(np.zeros((1, 3, 140, 140)), AttentionShape((1,), 3, 140, 140)), want, rtol=1e-6
    )
    # The last queries alone, as in decoding.
    last = el.RelativeBias(layer.relative_attention_bias.weight, bidirectional=not decoder, align="end")
    got = last.apply(np.zeros((1, 3, 5, 140)), AttentionShape((1,), 3, 5, 140))
    np.testing.assert_allclose(got, want[:, :, -5:], rtol=1e-6)


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 16, 20, 71])
def test_slopes_are_those_of_bloom(heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    want = build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)[:, 0, 1].numpy()
    problem = AttentionShape((1,), heads, 1, 2)
    np.testing.assert_allclose(
        -el.Alibi(align="start").apply(np.zeros(problem.shape), problem)[0, :, 0, 1], want, rtol=1e-6
    )


def test_alibi_word_by_word():
    problem = AttentionShape((1,), 2, 2, 4)
    s = np.zeros(problem.shape)
    got = el.Alibi([1.0, 0.5], align="end").apply(s, problem)[0]
    np.testing.assert_array_equal(got[0], [[-2, -1, 0, -1], [-3, -2, -1, 0]])
    np.testing.assert_array_equal(got[1], got[0] / 2)
    assert el.Alibi(align="start").apply(s, problem)[0, 0, 1, 3] == -2 * 2**-4


def test_what_torch_holds_stays_in_its_hands():
    problem = AttentionShape((1,), 2, 3, 3)
    for make, shape in ((el.Alibi, (2,)), (el.RelativeBias, (8, 2)), (el.Bias, (2, 3, 3)), (el.Sinks, (2,))):
        for dtype in (torch.float32, torch.bfloat16):
            given_tensor = torch.ones(shape, dtype=dtype, requires_grad=True)
            change = make(given_tensor)
            [(name, value)] = change.parameters().items()
            assert value is given_tensor
            again = change.with_parameters({name: np.ones(shape)})
            assert type(again) is make
            a, b = (scores.lower([one], problem) for one in (change, again))
            for ours, theirs in zip(a.steps, b.steps, strict=True):
                np.testing.assert_array_equal(array_of(ours), array_of(theirs))
            assert make is not el.Sinks or (a.sinks == b.sinks).all()


@given(drawn, st.integers(0, 2**32), st.data())
def test_a_definition_is_the_same_for_torch_and_for_a_part(case, seed, data):
    problem, stack = case
    s = np.random.default_rng(seed).standard_normal(problem.shape) * 3
    a, e = sorted(data.draw(st.tuples(*[st.integers(0, problem.queries)] * 2)))
    c, d = sorted(data.draw(st.tuples(*[st.integers(0, problem.keys)] * 2)))
    rows, keys = slice(a, e), slice(c, d)
    for change in stack:
        if isinstance(change, el.ScoreFunction) and s.size > 2000:
            continue
        whole = change.apply(s, problem)
        part = change.part(rows, keys)
        np.testing.assert_array_equal(part.apply(s[:, :, rows, keys], problem, rows, keys), whole[:, :, rows, keys])
        if not isinstance(change, el.ScoreFunction):
            tensors = {name: torch.from_numpy(np.array(x)) for name, x in change.parameters().items()}
            got = change.with_parameters(tensors).apply(torch.from_numpy(s), problem)
            np.testing.assert_allclose(got.numpy(), whole, rtol=1e-12, atol=1e-12)


@given(drawn)
def test_a_changes_parts_make_an_equal_one(case):
    problem, stack = case
    s = np.zeros(problem.shape)
    for change in stack:
        again = type(change)(**change.parts())
        assert repr(again) == repr(change)
        if s.size < 2000:
            np.testing.assert_array_equal(again.apply(s, problem), change.apply(s, problem))


def test_several_and_one_and_functions():
    assert scores.stacked(()) == ()
    assert scores.stacked(el.Softcap(2)) == (el.Softcap(2.0),)
    assert scores.stacked([nearer, el.Softcap(2)]) == (el.ScoreFunction(nearer), el.Softcap(2.0))
    assert scores.stacked(nearer) == (el.ScoreFunction(nearer),)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (el.Alibi(), "Alibi()"),
        (el.Alibi(np.ones(3), align="end"), "Alibi(slopes of 3 heads, align='end')"),
        (el.RelativeBias(np.ones((32, 8))), "RelativeBias(32 buckets × 8 heads)"),
        (
            el.RelativeBias(np.ones((8, 2)), False, 64, "end"),
            "RelativeBias(8 buckets × 2 heads, bidirectional=False, max_distance=64, align='end')",
        ),
        (el.Bias(np.ones((2, 3))), "Bias(2 × 3)"),
        (el.Softcap(np.float32(2)), "Softcap(cap=2.0)"),
        (el.Sinks([1, 2]), "Sinks(2 heads)"),
        (el.ScoreFunction(nearer, nearer), "ScoreFunction(nearer, nearer)"),
    ],
)
def test_changes_print_as_what_they_mean(change, text):
    assert repr(change) == text


THREE = AttentionShape((1,), 3, 4, 4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.Alibi(1.0), "slopes must be (H,), got shape ()"),
        (lambda: el.Alibi(["a"]), "slopes must be real numbers, got <U1"),
        (lambda: el.Alibi([1.0]).lower(THREE), "slopes must have one entry per head (3), got 1"),
        (lambda: el.Alibi([1, 2, np.nan]).lower(THREE), "slopes must be finite, got nan"),
        (lambda: el.Alibi(align="middle"), 'align must be "start", "end", a key\'s number or None, got'),
        (
            lambda: el.Alibi().lower(AttentionShape((1,), 3, 4, 5)),
            "align must be given where queries and keys differ in numb",
        ),
        (lambda: el.RelativeBias(np.ones(3)), "table must be (buckets, H), got shape (3,)"),
        (lambda: el.RelativeBias(np.ones((3, 3))), "table must have 4 buckets or more, got 3"),
        (lambda: el.RelativeBias(np.ones((1, 3)), False), "table must have 2 buckets or more, got 1"),
        (lambda: el.RelativeBias(np.ones((32, 3)), max_distance=8), "max_distance must be a whole number above 8"),
        (lambda: el.RelativeBias(np.ones((32, 3)), max_distance=9.5), "max_distance must be a whole number above 8"),
        (lambda: el.RelativeBias(np.ones((32, 4))).lower(THREE), "table must have one entry per head (3), got 4"),
        (lambda: el.RelativeBias(np.full((32, 3), np.inf)).lower(THREE), "table must be finite, got inf"),
        (lambda: el.Bias(np.ones(3)), "array must have axes for queries and keys, (..., N, M), got shape (3,)"),
        (
            lambda: el.Bias(np.ones((3, 3), bool)),
            "array must be real numbers, got bool; a mask of booleans is eyeline.",
        ),
        (
            lambda: el.Bias(torch.ones(3, 3, dtype=torch.bool)),
            "array must be real numbers, got torch.bool; a mask of booleans is eyeline.Dense(array)",
        ),
        (lambda: el.Bias(torch.ones(3, 3, dtype=torch.complex64)), "array must be real numbers, got torch.complex64"),
        (lambda: el.Sinks(torch.ones(3, dtype=torch.complex128)), "logits must be real numbers, got torch.complex128"),
        (lambda: el.Alibi(torch.ones(3, dtype=torch.bool)), "slopes must be real numbers, got torch.bool"),
        (
            lambda: el.RelativeBias(torch.ones(8, 3, dtype=torch.complex64)),
            "table must be real numbers, got torch.comp",
        ),
        (
            lambda: el.Bias(np.ones((3, 3))).lower(THREE),
            "array must broadcast to (..., H, N, M) = (1, 3, 4, 4), got sh",
        ),
        (lambda: el.Softcap(0), "cap must be a positive number, got 0"),
        (lambda: el.Softcap(-1.0), "cap must be a positive number, got -1.0"),
        (lambda: el.Softcap(np.nan), "cap must be a positive number, got nan"),
        (lambda: el.Softcap(np.inf), "cap must be a positive number, got inf"),
        (lambda: el.Softcap("1"), "cap must be a positive number, got '1'"),
        (lambda: el.Softcap(True), "cap must be a positive number, got True"),
        (lambda: el.Sinks([[1.0]]), "logits must be (H,), got shape (1, 1)"),
        (lambda: scores.lower([el.Sinks([1.0])], THREE), "logits must have one entry per head (3), got 1"),
        (lambda: scores.lower([el.Sinks([1, 2, np.inf])], THREE), "logits must be finite, got inf"),
        (lambda: scores.stacked([el.Sinks([1.0]), el.Softcap(1)]), "scores must have Sinks once and last, after all"),
        (lambda: scores.stacked([el.Sinks([1.0]), el.Sinks([1.0])]), "scores must have Sinks once and last, after all"),
    ],
)
def test_errors_say_what_was_wrong(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.ScoreFunction(3), "function must be a function (score, b, h, i, j) that gives a score, got 3"),
        (lambda: el.ScoreFunction(nearer, 3), "derivative must be a function (score, b, h, i, j) that gives a score"),
        (lambda: scores.stacked(3), "scores must hold score modifiers, such as eyeline.Alibi(), or functions, got 3"),
        (lambda: scores.stacked([el.Alibi]), "scores must hold score modifiers, such as eyeline.Alibi(), or functi"),
        (lambda: scores.stacked("alibi"), "scores must hold score modifiers, such as eyeline.Alibi(), or functions"),
        (lambda: scores.stacked([None]), "scores must hold score modifiers, such as eyeline.Alibi(), or functions"),
        (lambda: scores.stacked(np.ones((2, 2))), "got an array; to add it to the scores, wrap it as eyeline.Bias(arr"),
        (lambda: scores.stacked([np.ones((2, 2))]), "got an array; to add it to the scores, wrap it as eyeline.Bias(a"),
        (lambda: scores.stacked(el.Causal()), "scores must hold score modifiers, got a mask, Causal(); pass it as m"),
        (lambda: scores.stacked([el.Causal()]), "scores must hold score modifiers, got a mask, Causal(); pass it as"),
    ],
)
def test_what_is_no_change_of_scores_is_a_type_error(make, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        make()

"""The two calls: the formula's result at every shape, type, mask, layout and magnitude; properties."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from comparing import same_bits, same_sight
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Case, cases, spoiled

import eyeline as el
from eyeline.reference import steps


def plainly(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Output, weights and lse as anyone would write them in NumPy, in the type of q."""
    number = case.q.dtype.type
    k, v = case.k, case.v
    if k.ndim > 2 and k.shape[-3]:
        k, v = (np.repeat(x, case.q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    scale = 1 / np.sqrt(max(case.q.shape[-1], 1)) if case.scale is None else case.scale
    scores = np.where(case.allowed(), case.q @ np.swapaxes(k, -1, -2) * number(scale), number(-np.inf))
    top = scores.max(axis=-1, keepdims=True, initial=number(-np.inf))
    top[np.isinf(top)] = 0
    exponentials = np.exp(scores - top)
    total = exponentials.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[..., 0]
    weights = exponentials / np.where(total == 0, 1, total)
    return weights @ v, weights, lse


def check(case: Case, seen: el.Observation) -> None:
    """What was seen of a call is the reference's, but for rounding: three times what plain NumPy's rounding is.

    And some ulp, since plain NumPy may be lucky: two for each unit of the sum of |q·k|, which is what the scores' own
    rounding does to a weight, and some for adding up so many weights.
    """
    want = steps(case.q, case.k, case.v, mask=case.mask, scale=case.scale)
    q, k = np.abs(np.nan_to_num(want.q, posinf=0)), np.abs(np.nan_to_num(want.k, posinf=0))
    extent = float((q @ np.swapaxes(k, -1, -2)).max(initial=0)) * abs(want.scale)
    ulps = np.finfo(case.q.dtype).eps * (4 + 2 * extent + case.k.shape[-2] / 8)
    values = np.abs(np.nan_to_num(case.v.astype(np.float64), posinf=0)).max(initial=0)
    with np.errstate(invalid="ignore"):
        plain = plainly(case)
    for name, got, roughly, exact, size in (
        ("output", seen.output, plain[0], want.output, values),
        ("weights", seen.weights, plain[1], want.weights, 1),
        ("lse", seen.lse, plain[2], want.lse, 5),
    ):
        assert got.dtype == case.q.dtype, name
        assert got.shape == exact.shape, name
        for odd in (np.isnan, np.isposinf, np.isneginf):
            np.testing.assert_array_equal(odd(got), odd(exact), err_msg=name)
        at = np.isfinite(exact) & np.isfinite(roughly)
        error = np.abs(got[at] - exact[at]).max(initial=0)
        assert error <= 3 * np.abs(roughly[at] - exact[at]).max(initial=0) + ulps * size, name


@given(cases())
def test_equals_the_reference(case):
    before = case.contiguous()
    seen = case.look(el.Weights())
    check(case, seen)
    same_bits(case.run(), seen.output)
    assert seen.output.flags.c_contiguous
    for name in "qkv":
        same_bits(getattr(case, name), getattr(before, name))


@given(cases(), st.sampled_from((np.nan, np.inf, -np.inf)))
def test_what_is_hidden_never_reaches_the_result(case, what):
    bad = spoiled(case, what)
    seen, want = bad.look(el.Weights()), case.look(el.Weights())
    same_sight(seen, want)


@given(cases(layouts=("contiguous",), magnitudes=(0.1, 1.0)), st.sampled_from((np.nan, np.inf)), st.data())
def test_what_is_seen_does_as_in_the_reference(case, what, data):
    # The reference takes what isn't finite apart, weight by weight: of N · M · E numbers, not too many.
    assume(case.k.size and case.v.size and case.q[..., 0].size * case.v.shape[-2] * case.v.shape[-1] < 5_000_000)
    key = data.draw(st.integers(0, case.k.shape[-2] - 1))
    for x in data.draw(st.sampled_from(((case.k,), (case.v,), (case.k, case.v)))):
        x[..., key, data.draw(st.integers(0, x.shape[-1] - 1))] = what
    with np.errstate(invalid="ignore"):
        check(case, case.look(el.Weights()))


@given(cases(layouts=("contiguous",)), st.sampled_from((np.nan, np.inf)), st.sampled_from((0.0, 0.5)), st.data())
def test_a_visible_value_reaches_its_rows_whatever_its_weight(case, what, dropout, data):
    """It is dropped by the mask alone: not where its weight is too small for the type, nor by dropout."""
    lead = case.v.shape[:-2]
    if not case.v.size or not case.q.size:
        return
    at = tuple(data.draw(st.integers(0, n - 1)) for n in (*lead, case.v.shape[-2]))
    v = case.v.copy()
    v[at] = what
    told = {"mask": case.mask, "scale": case.scale, "dropout": dropout, "seed": 3}
    seen = np.zeros((*case.q.shape[:-1], case.k.shape[-2]), bool)
    heads = case.q.shape[-3] // case.k.shape[-3] if case.q.ndim > 2 else 1
    group = (slice(at[-2] * heads, (at[-2] + 1) * heads),) if case.q.ndim > 2 else ()
    seen[at[: max(len(lead) - 1, 0)] + group + (..., at[-1])] = True
    reached = (seen & case.allowed()).any(axis=-1)
    for output in (el.attention(case.q, case.k, v, **told), steps(case.q, case.k, v, **told).output):
        np.testing.assert_array_equal(np.isfinite(output).all(axis=-1), ~reached)
        np.testing.assert_array_equal(np.isfinite(output).any(axis=-1), ~reached)


@given(cases(layouts=("contiguous",)), st.randoms(use_true_random=False))
def test_permuting_heads_permutes_the_output(case, random):
    case = replace(case, mask=None)
    if case.q.ndim < 3:
        return
    G = case.k.shape[-3]
    order = random.sample(range(G), G)
    heads = np.arange(case.q.shape[-3]).reshape(G, -1)[order].ravel() if G else []
    got = el.attention(
        *(np.take(x, o, -3) for x, o in ((case.q, heads), (case.k, order), (case.v, order))), scale=case.scale
    )
    same_bits(got, np.take(case.run(), heads, -3))


def test_adding_a_constant_to_all_scores_changes_nothing():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((3, 70, 9)) for _ in range(3))
    for constant in (-300.0, 5.0, 300.0):
        moved_q = np.concatenate([q, np.full((3, 70, 1), constant)], axis=-1)
        moved_k = np.concatenate([k, np.ones((3, 70, 1))], axis=-1)
        a = el.observe(q, k, v, scale=1.0, mask=el.Causal(), read=[el.Weights()])
        b = el.observe(moved_q, moved_k, v, scale=1.0, mask=el.Causal(), read=[el.Weights()])
        np.testing.assert_allclose(b.output, a.output, atol=1e-12)
        np.testing.assert_allclose(b.weights, a.weights, atol=1e-12)
        np.testing.assert_allclose(b.lse, a.lse + constant, atol=1e-12)


@given(cases(layouts=("contiguous",), magnitudes=(1.0,)))
def test_weights_sum_to_one_and_make_the_output(case):
    seen = case.look(el.Weights())
    looks = case.allowed().any(axis=-1)
    eps = np.finfo(case.q.dtype).eps
    np.testing.assert_allclose(seen.weights.sum(axis=-1, dtype=np.float64), looks, atol=50 * eps)
    assert (seen.weights[~case.allowed()] == 0).all()
    v = np.repeat(case.v, case.q.shape[-3] // case.k.shape[-3], -3) if case.k.ndim > 2 and case.k.shape[-3] else case.v
    np.testing.assert_allclose(seen.output, seen.weights.astype(np.float64) @ v, atol=400 * eps)


positions = st.one_of(
    st.none(),
    st.slices(300),
    st.integers(-300, 299),
    st.lists(st.integers(-300, 299), max_size=20),
    st.lists(st.integers(-300, 299), max_size=9).map(lambda some: np.array(some, np.int64)),
)


@given(cases(), positions, positions)
def test_a_rectangle_of_weights_is_that_region_of_all_of_them(case, queries, keys):
    N, M = case.sizes

    def fitted(which, count):
        """The drawn positions, brought into range."""
        if which is None or isinstance(which, slice):
            return which
        if not count:
            return []
        return np.asarray(which) % count - count * (np.asarray(which) < 0)

    queries, keys = fitted(queries, N), fitted(keys, M)
    want = case.look(el.Weights()).weights

    def chosen(which, count):
        if which is None or isinstance(which, slice):
            return np.arange(count)[which or slice(None)]
        return np.atleast_1d(np.asarray(which, int)) % max(count, 1)

    rows, columns = chosen(queries, N), chosen(keys, M)
    got = case.look(el.Weights(queries=queries, keys=keys))
    assert got.weights.shape == (*case.q.shape[:-2], len(rows), len(columns))
    same_bits(got.weights, want[..., rows, :][..., columns])
    same_bits(got.output, case.run())


@pytest.mark.parametrize(("D", "E"), [(1, 1), (512, 512), (513, 3), (3, 517), (64, 0), (0, 5)])
def test_widths(D, E):
    rng = np.random.default_rng(D)
    for dtype in (np.float32, np.float64):
        q, k, v = (rng.standard_normal((2, n, w)).astype(dtype) for n, w in ((37, D), (130, D), (130, E)))
        case = Case(q, k, v, el.Causal("end"), None)
        check(case, case.look(el.Weights()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_and_tiny_numbers(dtype):
    rng = np.random.default_rng(1)
    for size, scale in (
        (1e4, 1.0),
        (1e-4, None),
        (float(np.finfo(dtype).tiny) / 8, None),
        (1e15, 1e-20),
        (1e-15, 1e20),
    ):
        q, k, v = ((rng.standard_normal((2, 150, 16)) * size).astype(dtype) for _ in range(3))
        case = Case(q, k, v, el.Window(40), scale)
        seen = case.look(el.Weights())
        assert np.isfinite(seen.output).all()
        check(case, seen)


@pytest.mark.parametrize(("dtype", "least"), [(np.float32, 87), (np.float64, 708)])
def test_every_weight_is_right_to_some_ulp(dtype, least):
    """Of two keys, with scores 0 and -t."""
    t = np.linspace(0, least, 5001).astype(dtype)
    q, k = np.ones((len(t), 1, 1), dtype), np.zeros((len(t), 2, 1), dtype)
    k[:, 1, 0] = -t
    weights = el.observe(q, k, k, scale=1.0, read=[el.Weights()]).weights[:, 0]
    small = np.exp(-t.astype(np.longdouble))
    eps = np.finfo(dtype).eps
    assert (np.abs(weights[:, 0] * (1 + small) - 1) <= 2 * eps).all()
    # Rounding a score to t ± t · eps / 2 changes its weight by as much.
    assert (np.abs(weights[:, 1] * (1 + small) / small - 1) <= (2 + t) * eps).all()
    k[:, 1, 0] = -np.geomspace(least, 1e30, len(t))
    weights = el.observe(q, k, k, scale=1.0, read=[el.Weights()]).weights[:, 0]
    assert (weights[:, 0] == 1).all()
    assert ((weights[:, 1] >= 0) & (weights[:, 1] <= np.exp(-float(least)) * 1.01)).all()


def test_the_error_is_no_larger_than_torchs():
    import torch

    rng = np.random.default_rng(4)
    q, k, v = (rng.standard_normal((4, 512, 64)).astype(np.float32) for _ in range(3))
    exact = steps(q, k, v).output
    theirs = torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v))).numpy()
    errors = [np.sqrt(np.mean((output - exact) ** 2)) for output in (el.attention(q, k, v), theirs)]
    assert errors[0] <= errors[1]


@pytest.mark.parametrize(
    "shape", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0), (2, 3, 2, 0, 5), (0, 0), (0, 3, 4)]
)
def test_nothing_in_nothing_out(shape):
    x = np.ones(shape, np.float32)
    for mask in (None, el.Causal(), ~(el.Causal() & el.Window(1)) | el.Padding(keys=[0])):
        seen = el.observe(x, x, x, mask=mask, read=[el.Weights()])
        assert seen.output.shape == shape
        assert seen.lse.shape == shape[:-1]
        assert seen.weights.shape == (*shape[:-1], shape[-2])


def test_no_keys_give_zeros():
    q, k, v = np.ones((2, 5, 4)), np.ones((1, 0, 4)), np.ones((1, 0, 3))
    for mask in (None, el.Causal("end"), ~el.Causal("start"), el.Dense(np.ones((5, 0), bool)), el.Padding([0])):
        seen = el.observe(q, k, v, mask=mask, read=[el.Weights()])
        np.testing.assert_array_equal(seen.output, np.zeros((2, 5, 3)))
        np.testing.assert_array_equal(seen.lse, np.full((2, 5), -np.inf))
        assert seen.weights.shape == (2, 5, 0)


def test_one_token_becomes_its_own_value():
    v = np.random.default_rng(2).standard_normal((3, 1, 5)).astype(np.float32)
    np.testing.assert_array_equal(el.attention(v * 9, -v, v), v)


def test_a_scale_of_zero_looks_at_all_alike_and_one_readout_needs_no_list():
    x = np.random.default_rng(3).standard_normal((4, 4))
    seen = el.observe(x, x, x, scale=0, read=el.Weights(keys=1))
    np.testing.assert_array_equal(seen.weights, np.full((4, 1), 0.25))
    assert el.Weights not in el.observe(x, x, x)


def test_attention_stays_a_function():
    """The package `eyeline.attention` is bound to its name once, before the function is: no later import does it."""
    code = """if True:
        import sys
        import numpy as np
        import eyeline as el
        from eyeline.calls import attention

        def check():
            assert el.attention is attention and sys.modules["eyeline.attention"] is not attention

        check()
        x = np.ones((3, 2))
        for shape in (x, x[:1]):
            el.attention(shape, x, x); check()
        el.observe(x, x, x, read=el.Entropy()); check()
        import eyeline.attention.call, eyeline.attention.checks; check()
        from eyeline import reference; check()
        reference.observe(x, x, x, read=el.Entropy()); check()
        import torch, eyeline.torch; check()
        t = torch.ones(3, 2, requires_grad=True)
        el.attention(t, t, t).sum().backward(); check()
        with eyeline.torch.portable():
            el.observe(t, t, t, read=el.Entropy()).entropy.sum().backward(); check()
        el.Trace, el.explain, el.watch, el.view, el.models; check()
    """
    subprocess.run([sys.executable, "-c", code], check=True)

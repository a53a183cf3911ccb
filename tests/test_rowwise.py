"""Norms and rotations of rows, against float64: shapes, layouts, bits, errors."""

from __future__ import annotations

import numpy as np
import pytest
from comparing import same_at_any_vector_width
from hypothesis import given
from hypothesis import strategies as st

from eyeline.kernels import rowwise, threads
from eyeline.kernels.rowwise import layer_norm, root_mean_square_norm, rotate

EPSILON = 1e-5


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def exact_layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(np.square(centred).mean(-1, keepdims=True) + EPSILON) * weight + bias


def exact_root_mean_square_norm(x, weight, bias):
    return x / np.sqrt(np.square(x).mean(-1, keepdims=True) + EPSILON) * weight


def kernel_root_mean_square_norm(x, weight, bias, epsilon, **more):
    return root_mean_square_norm(x, weight, epsilon, **more)


def exact_rotation(x, cos, sin):
    left, right = np.split(x, 2, axis=-1)
    return np.concatenate([left * cos - right * sin, right * cos + left * sin], axis=-1)


NORMS = {
    "layer norm": (layer_norm, exact_layer_norm),
    "root mean square": (kernel_root_mean_square_norm, exact_root_mean_square_norm),
}


@given(
    st.sampled_from(sorted(NORMS)),
    st.sampled_from(((0, 5), (1,), (4, 1), (3, 15), (2, 16), (7, 17), (2, 3, 33), (1, 2, 2, 64), (40, 384), (2, 1000))),
    st.booleans(),
    st.booleans(),
    st.sampled_from((0.01, 1, 100)),
)
def test_norms(name, shape, with_residual, with_total, scale):
    kernel, formula = NORMS[name]
    x, residual = numbers(1, *shape) * np.float32(scale), numbers(2, *shape) if with_residual else None
    weight, bias = numbers(3, shape[-1]), numbers(4, shape[-1])
    total = np.full(shape, np.nan, np.float32) if with_total else None
    y = kernel(x, weight, bias, EPSILON, residual=residual, total=total)
    summed = x if residual is None else x + residual
    np.testing.assert_allclose(y, formula(summed.astype(float), weight, bias), rtol=2e-5, atol=5e-6)
    if with_total:
        np.testing.assert_array_equal(total, summed)


@pytest.mark.parametrize("name", NORMS)
def test_norms_in_place_and_in_any_layout(name):
    kernel, _ = NORMS[name]
    x, residual, weight, bias = numbers(1, 3, 5, 40), numbers(2, 3, 5, 40), numbers(3, 40), numbers(4, 40)
    expected = kernel(x + residual, weight, bias, EPSILON)
    for given_x in (np.asfortranarray(x), np.repeat(x, 2, -1)[..., ::2], x[:, ::-1].copy()[:, ::-1]):
        np.testing.assert_array_equal(kernel(given_x, weight, bias, EPSILON, residual=residual), expected)
    y, total = x.copy(), residual.copy()
    assert kernel(y, weight, bias, EPSILON, residual=total, total=total, out=y) is y
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(total, x + residual)
    # The same residual for all texts, as embeddings of positions are.
    shared = np.broadcast_to(residual[0], x.shape)
    y = kernel(x, weight, bias, EPSILON, residual=shared)
    np.testing.assert_array_equal(y, kernel(x + shared, weight, bias, EPSILON))
    around = np.full((3, 7, 50), np.nan, np.float32)
    kernel(x, weight, bias, EPSILON, residual=residual, out=around[:, 1:6, 3:43])
    np.testing.assert_array_equal(around[:, 1:6, 3:43], expected)
    assert np.isnan(around).sum() == around.size - x.size


@pytest.mark.parametrize("name", NORMS)
def test_a_rows_bits_depend_on_that_row_alone(name, monkeypatch):
    kernel, _ = NORMS[name]
    monkeypatch.setattr(rowwise, "WORTH_THREADS", 0)
    x, weight, bias = numbers(1, 500, 77), numbers(2, 77), numbers(3, 77)
    y = kernel(x, weight, bias, EPSILON)
    try:
        for count in (1, 2, 3, 4):
            threads.set_threads(count)
            np.testing.assert_array_equal(kernel(x, weight, bias, EPSILON), y)
    finally:
        threads.set_threads(None)
    np.testing.assert_array_equal(kernel(x[7], weight, bias, EPSILON), y[7])
    x[3, 5], x[9, 76] = np.nan, np.inf
    others = np.delete(np.arange(500), (3, 9))
    again = kernel(x, weight, bias, EPSILON)
    np.testing.assert_array_equal(again[others], y[others])
    assert np.isnan(again[3]).all()
    assert np.isnan(again[9, 76])


@given(
    st.sampled_from((0, 1, 2)),
    st.sampled_from((0, 1, 3)),
    st.sampled_from((0, 1, 5, 40)),
    st.sampled_from((2, 6, 30, 32, 34, 64, 128)),
    st.sampled_from((0, 1, 2)),
)
def test_rotation_is_the_formula_bit_for_bit(B, H, N, D, layout):
    order = ((0, 1, 2, 3), (0, 2, 1, 3), (3, 0, 1, 2))[layout]
    x = numbers(1, B, H, N, D).transpose(order).copy().transpose(np.argsort(order))
    turn = numbers(2, N, D // 2), numbers(3, N, D // 2)
    expected = exact_rotation(x, *turn)
    np.testing.assert_array_equal(rotate(x, *turn), expected)
    out = x.copy()
    assert rotate(out, *turn, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_queries_and_keys_are_rotated_within_their_product():
    q_k_v, turn = numbers(1, 2, 9, 5 * 16), (numbers(2, 9, 8), numbers(3, 9, 8))
    heads = q_k_v.reshape(2, 9, 5, 16).transpose(0, 2, 1, 3)
    expected = heads.copy()
    expected[:, :4] = exact_rotation(heads[:, :4], *turn)
    rotate(heads[:, :4], *turn, out=heads[:, :4])
    np.testing.assert_array_equal(heads, expected)


DIGEST = """
import hashlib, numpy as np
from eyeline.kernels.rowwise import layer_norm, root_mean_square_norm, rotate
digest, rng = hashlib.sha256(), np.random.default_rng(0)
for shape in [(3, 5), (2, 4, 100), (9, 384)]:
    x, r, w, b = (rng.standard_normal(size, np.float32) for size in (shape, shape, shape[-1], shape[-1]))
    digest.update(layer_norm(x, w, b, 1e-5, residual=r).tobytes())
    digest.update(root_mean_square_norm(x, w, 1e-5).tobytes())
x, cos, sin = (rng.standard_normal(size, np.float32) for size in ((2, 3, 5, 44), (5, 22), (5, 22)))
digest.update(rotate(x, cos, sin).tobytes())
print(digest.hexdigest())
"""


def test_any_vector_width_gives_the_same_bits():
    same_at_any_vector_width(DIGEST)


F32 = np.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x, w: layer_norm(x.astype(float), w, w, 0),
            TypeError,
            "x must be a NumPy array of float32, got float64",
        ),
        (lambda x, w: layer_norm([1.0], w, w, 0), TypeError, "x must be a NumPy array of float32, got list"),
        (lambda x, w: layer_norm(x, w[:3], w, 0), ValueError, r"weight must have shape \(4,\), got \(3,\)"),
        (lambda x, w: layer_norm(x, w, w.astype(float), 0), TypeError, "bias must be a NumPy array of float32"),
        (lambda x, w: layer_norm(x, w, w, 0, residual=x[:1]), ValueError, r"residual must have shape \(2, 4\)"),
        (lambda x, w: layer_norm(x, w, w, 0, out=x[:1]), ValueError, r"out must have shape \(2, 4\)"),
        (lambda x, w: layer_norm(x[:1, :3], w[:3], w[:3], 0, out=x[:1, 1:]), ValueError, "out must not overlap x"),
        (lambda x, w: rotate(x, w, w), ValueError, r"x must have shape \(B, H, N, D\), D even, got \(2, 4\)"),
        (lambda x, w: rotate(x[None, None, :, :3], w, w), ValueError, "D even"),
        (lambda x, w: rotate(x[None, None], w, w), ValueError, r"cos must have shape \(2, 2\), got \(4,\)"),
        (lambda x, w: rotate(x[None, None], x[:, :2], x[:, :2], out=x[None]), ValueError, "out must have shape"),
    ],
)
def test_wrong_input(call, error, message):
    x, w = np.ones((2, 4), F32), np.ones(4, F32)
    with pytest.raises(error, match=message):
        call(x, w)

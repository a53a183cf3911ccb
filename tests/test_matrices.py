"""A model's matrices: linear layers are what their definition says, the first time and later, and keep one copy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from eyeline.models.checkpoints import StoredMatrix, StoredTensors
from eyeline.models.linear import Linear, read_linears, split, split_three


@given(st.integers(0, 70), st.integers(1, 40), st.integers(1, 1200), st.sampled_from(["float32", "float16", "float64"]))
def test_products_are_those_of_the_matrix_and_the_same_each_time(rows, outputs, inputs, kind):
    rng = np.random.default_rng(rows + outputs + inputs)
    stored = rng.standard_normal((outputs, inputs)).astype(kind)
    x = rng.standard_normal((rows, inputs)).astype(np.float32)
    layer = Linear([StoredMatrix(stored)], [None])
    first, second = layer(x), layer(x)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, x.astype(float) @ stored.astype(float).T, atol=1e-5 * inputs**0.5 * 5)
    for row in range(min(rows, 3)):
        np.testing.assert_array_equal(layer(x[row : row + 1]), first[row : row + 1])


@given(st.integers(1, 9), st.integers(1, 3), st.sampled_from(["float32", "float16", "mixed"]))
def test_several_layers_are_one_product(rows, heads, kind):
    rng = np.random.default_rng(rows + heads)
    kinds = ["float32", "float16", "float32"] if kind == "mixed" else [kind] * 3
    sizes = [4 * heads, 4, 4]
    parts = [StoredMatrix(rng.standard_normal((n, 6)).astype(kind)) for n, kind in zip(sizes, kinds, strict=True)]
    biases = [rng.standard_normal(n).astype(np.float32) for n in sizes]
    x = rng.standard_normal((2, rows, 6)).astype(np.float32)
    found = split_three(Linear(parts, biases)(x), heads, 1)
    for one, part, bias, count in zip(found, parts, biases, (heads, 1, 1), strict=True):
        expected = split(x @ part.whole.T + bias, count)
        assert one.shape == expected.shape
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-4)
        assert one.base is not None  # read in place


def test_what_follows_a_product_comes_in_order():
    rng = np.random.default_rng(0)
    gate, up = (StoredMatrix(rng.standard_normal((5, 6)).astype(np.float32)) for _ in range(2))
    x, residual = (rng.standard_normal((3, n)).astype(np.float32) for n in (6, 5))
    relu = np.maximum(x @ gate.whole.T, 0)
    np.testing.assert_allclose(Linear([gate], [None], "relu")(x, residual=residual), relu + residual, atol=1e-5)
    gated = Linear([gate, up], [None, None], "relu", gated=True)
    np.testing.assert_allclose(gated(x), relu * (x @ up.whole.T), atol=1e-5)
    out = residual.copy()
    assert Linear([gate], [None])(x, residual=out, out=out) is out
    np.testing.assert_allclose(out, x @ gate.whole.T + residual, atol=1e-5)


def test_heads_are_joined_where_they_are_read():
    rng = np.random.default_rng(0)
    attended, weight = rng.standard_normal((2, 3, 5, 4)).astype(np.float32), rng.standard_normal((7, 12)).astype("f4")
    joined = attended.transpose(0, 2, 1, 3).reshape(2, 5, 12)
    layer = Linear([StoredMatrix(weight)], [None])
    np.testing.assert_array_equal(layer.of_heads(attended), layer(joined))


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_a_matrix_is_kept_once_in_the_files_own_type(tmp_path, kind):
    weights = np.random.default_rng(0).standard_normal((512, 1024)).astype(kind)
    save_file({"one.weight": weights}, str(tmp_path / "model.safetensors"))
    layer = read_linears(StoredTensors(tmp_path / "model.safetensors"), {"one": 512}, 1024, bias=False)
    assert not any(isinstance(value, np.ndarray) for value in vars(layer).values())  # nothing before it is used
    x = np.ones((2, 1024), np.float32)
    first = layer(x)
    assert weights.nbytes <= layer._packed.nbytes <= 1.1 * weights.nbytes
    np.testing.assert_array_equal(layer.parts[0].stored, weights)  # still there after its memory was given back
    np.testing.assert_array_equal(layer(x), first)

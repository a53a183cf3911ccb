"""A model's matrices: what is made of them part by part is what is made of the whole, the first time and later."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyeline.models.checkpoints import StoredMatrix


@given(st.integers(0, 70), st.integers(1, 40), st.integers(1, 1200), st.sampled_from(["float32", "float16"]))
def test_products_are_those_of_the_whole_and_the_same_each_time(rows, outputs, inputs, kind):
    rng = np.random.default_rng(rows + outputs + inputs)
    stored = rng.standard_normal((outputs, inputs)).astype(kind)
    x = rng.standard_normal((rows, inputs)).astype(np.float32)
    matrix = StoredMatrix(stored)
    first, second = matrix.times(x), matrix.times(x)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, x.astype(float) @ stored.astype(float).T, atol=1e-5 * inputs**0.5 * 5)


@pytest.mark.parametrize("rows", [1, 5])
def test_nothing_is_kept_of_a_matrix_that_is_used_once(rows):
    matrix = StoredMatrix(np.ones((3, 4), np.float16))
    x = np.ones((rows, 4), np.float32)
    matrix.times(x)
    assert "whole" not in vars(matrix)
    matrix.times(x)
    assert "whole" in vars(matrix)

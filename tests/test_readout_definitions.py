"""A readout's definition: for NumPy and torch alike, in blocks of queries that merge, with the gradient it says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import READOUTS, problems, readouts

import eyeline as el
from eyeline.masks import AttentionShape
from eyeline.readouts import PartialResult, Readout, Rows, merged


def weights(shape: AttentionShape, rng: np.random.Generator, ties: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows of weights that sum to 1, some hidden, some all hidden; with ties, of few different numbers."""
    visible = rng.random(shape.shape) < rng.choice((0.3, 0.9, 1.0))
    scores = rng.integers(0, 3, shape.shape) if ties else rng.standard_normal(shape.shape) * 3
    exponentials = np.where(visible, np.exp(scores), 0.0)
    sums = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(sums == 0, 1, sums), visible


def blocks(w, visible, shape: AttentionShape, size: int) -> list[Rows]:
    """The rows, so many at a time; all at once if there are none."""
    firsts = range(0, max(shape.queries, 1), size)
    return [Rows(w[..., i : i + size, :], visible[..., i : i + size, :], i, shape) for i in firsts]


def same(got: PartialResult, want: PartialResult, atol: float = 1e-12) -> None:
    assert (got.shape, got.first, got.count) == (want.shape, want.first, want.count)
    for x, y in zip(got.arrays, want.arrays, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), atol=atol)
    assert (got.places is None) == (want.places is None)
    if want.places is not None:
        # Where the factor of a key is 0, all its products are alike, and none has a gradient.
        attained = np.asarray(want.arrays[-1]) != 0
        np.testing.assert_array_equal(np.asarray(got.places)[attained], np.asarray(want.places)[attained])


@st.composite
def questions(draw):
    shape = draw(problems(most=17))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return shape, draw(readouts(shape)), weights(shape, rng, draw(st.booleans())), rng, draw(st.integers(1, 7))


@given(questions())
def test_numpy_and_torch_read_the_same(question):
    shape, read, (w, visible), _, _ = question
    rows = Rows(w, visible, 0, shape)
    tensors = Rows(torch.from_numpy(w), torch.from_numpy(visible), 0, shape)
    for readout in read:
        same(readout.read(tensors), readout.read(rows))


@given(questions())
def test_results_are_of_the_sizes_that_they_are_said_to_be(question):
    shape, read, (w, visible), _, _ = question
    for readout in read:
        arrays, said = readout.read(Rows(w, visible, 0, shape)).arrays, readout.results(shape)
        assert len(arrays) == len(said) == readout.count_of_results
        kinds = {"weights": np.float64, "keys": np.int64, "booleans": np.bool_}
        for array, result in zip(arrays, said, strict=True):
            assert array.shape == (shape.batch, shape.heads, *result.sizes)
            assert array.dtype == kinds[result.kind]


@given(questions())
def test_blocks_of_queries_merge_to_all(question):
    shape, read, (w, visible), _, size = question
    for readout in read:
        whole = readout.read(Rows(w, visible, 0, shape))
        found = merged(readout, (readout.read(rows) for rows in blocks(w, visible, shape, size)))
        # First places among ties, too, which lie in different blocks.
        same(found, whole)
        tensors = blocks(torch.from_numpy(w), torch.from_numpy(visible), shape, size)
        same(merged(readout, map(readout.read, tensors)), whole)


@given(questions())
def test_coefficients_are_the_gradient_of_the_definition(question):
    shape, read, (w, visible), rng, size = question
    for readout in read:
        leaf = torch.from_numpy(w).requires_grad_()
        found = readout.read(Rows(leaf, torch.from_numpy(visible), 0, shape))
        d = rng.standard_normal(found.arrays[-1].shape)
        if not found.arrays[-1].requires_grad:
            assert found.arrays[-1].numel() == 0 or not w.size
            continue
        (found.arrays[-1] * torch.from_numpy(d)).sum().backward()
        want = leaf.grad.numpy()
        for rows in blocks(w, visible, shape, size):
            both = readout.read(Rows(w, visible, 0, shape)), found.map(lambda x: x.detach())
            tensors = Rows(torch.from_numpy(rows.w), torch.from_numpy(rows.visible), rows.first, shape)
            for array, whole, some in ((d, both[0], rows), (torch.from_numpy(d), both[1], tensors)):
                got = np.broadcast_to(np.asarray(readout.coefficients(array, whole, some)), rows.w.shape)
                np.testing.assert_allclose(got, want[..., rows.first : rows.last, :], atol=1e-12)


def test_all_kinds_are_there():
    assert {kind for kind in Readout.kinds() if kind.__module__.startswith("eyeline.")} == set(READOUTS)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_first_of_equal_maxima_has_the_gradient_across_blocks(size):
    shape = AttentionShape((1,), 1, 6, 4)
    w = np.full(shape.shape, 0.25)
    visible = np.ones(shape.shape, bool)
    for readout, first in ((el.Received("max"), (slice(0, 1), slice(None))), (el.Pooled(1, 2, "max"), (0, [0, 2]))):
        found = merged(readout, (readout.read(rows) for rows in blocks(w, visible, shape, size)))
        d = np.ones(found.arrays[-1].shape)
        got = [
            np.broadcast_to(readout.coefficients(d, found, rows), rows.w.shape)
            for rows in blocks(w, visible, shape, size)
        ]
        want = np.zeros((6, 4))
        want[first] = 1
        np.testing.assert_array_equal(np.concatenate(got, axis=2)[0, 0], want)

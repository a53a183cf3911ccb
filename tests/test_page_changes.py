""" "What if" in the matrix, which shows all weights: the reference's, with a changed mask or without scaling."""

from __future__ import annotations

import numpy as np
import pages
import pytest
from taken import numbers

from eyeline import reference
from eyeline.masks import Causal, Dense, Window

TEXT = "time flies like an arrow"
N = 7


def expected(trace, head, *, allowed=None, ahead=True, padded=0, scaled=True, removed=()):
    """The reference's weights of one head, (N, M), or of the mean of all heads, with what is changed."""
    layer = trace.layer(0)
    seen = pages.seen(trace, allowed=allowed, ahead=ahead, padded=padded, removed=removed)
    heads = range(trace.model.heads) if head == "mean" else [head]
    rows = []
    for one in heads:
        group = trace.key_head(one)
        scale = layer.scale if scaled else 1.0
        done = reference.steps(layer.q[one], layer.k[group], layer.k[group], mask=Dense(seen), scale=scale)
        rows.append(done.weights)
    return np.mean(rows, axis=0)


@pytest.fixture
def weights(page_of):
    """The weights that the matrix gives away, (N, M)."""

    def of(trace, words):
        page = page_of(trace, words=f"view=matrix layer=0 special=shown {words}")
        M = len(trace.across)
        rows = [[value for name, value in row.items() if name != "special tokens"][-M:] for row in numbers(page)]
        return np.array([[value or 0 for value in row] for row in rows], float)  # a hidden pair has no number

    return of


CHANGES = [
    ("ahead=no", {"ahead": False}),
    ("padded=3", {"padded": 3}),
    ("scaled=no", {"scaled": False}),
    ("removed=0,6", {"removed": [0, 6]}),
    ("ahead=no padded=2 scaled=no removed=1", {"ahead": False, "padded": 2, "scaled": False, "removed": [1]}),
]


@pytest.mark.parametrize(("words", "changes"), CHANGES)
def test_all_weights_are_computed_anew(weights, words, changes):
    trace = pages.trace(TEXT, spread=3.0)
    for head in (1, "mean"):
        got = weights(trace, f"head={head} {words}")
        np.testing.assert_allclose(got, expected(trace, head, **changes), rtol=1e-4, atol=1e-6)


def test_a_mask_stays_where_another_is_added(weights):
    far = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    trace = pages.trace(TEXT, mask=Window(1, 1), key_heads=1)
    got = weights(trace, "head=2 ahead=no removed=3")
    want = expected(trace, 2, allowed=far <= 1, ahead=False, removed=[3])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_a_row_that_nothing_is_left_of_is_zeros(weights):
    got = weights(pages.trace(TEXT, mask=Causal()), "head=0 removed=0")
    np.testing.assert_array_equal(got[0], np.zeros(N))
    np.testing.assert_allclose(got[1:].sum(axis=1), 1, atol=1e-5)


def test_in_cross_attention_no_token_is_ahead_and_none_is_padding(weights):
    trace = pages.trace("le temps passe", TEXT, special=False)
    np.testing.assert_allclose(weights(trace, "head=0 ahead=no padded=2"), expected(trace, 0), rtol=1e-4, atol=1e-6)
    got = weights(trace, "head=0 removed=1")
    np.testing.assert_allclose(got, expected(trace, 0, removed=[1]), rtol=1e-4, atol=1e-6)

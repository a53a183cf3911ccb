"""Masks of packed documents and of prefixes: word by word; what they cost; printing; errors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline import reference
from eyeline.masks import AttentionShape


def squares(lengths, n):
    """Booleans of documents along the diagonal, block by block."""
    allowed, begin = np.zeros((n, n), bool), 0
    for length in lengths:
        allowed[begin : begin + length, begin : begin + length] = True
        begin += length
    return allowed


@pytest.mark.parametrize("lengths", [[], [0], [4], [2, 3], [1, 1, 1], [0, 3, 0, 0, 2, 0], [7]])
def test_documents_are_squares(lengths):
    np.testing.assert_array_equal(el.Documents(lengths).dense(7), squares(lengths, 7))


def test_each_batch_element_has_documents_of_its_own():
    each = [[2, 3], [7], [], [1, 0, 4]]
    got = el.Documents(each).dense(7, batch=4)[:, 0]
    for lengths, allowed in zip(each, got, strict=True):
        np.testing.assert_array_equal(allowed, squares(lengths, 7))
    assert el.Documents([[2, 3]]) == el.Documents([2, 3])
    np.testing.assert_array_equal(el.Documents([2, 3]).dense(7, batch=3)[2, 0], squares([2, 3], 7))


def test_the_last_queries_of_packed_documents():
    whole = el.Documents([2, 3]).dense(6)
    np.testing.assert_array_equal(el.Documents([2, 3], align="end").dense(3, 6), whole[3:])
    np.testing.assert_array_equal(el.Documents([2, 3], align="start").dense(3, 6), whole[:3])
    assert not el.Documents([2], align="end").dense(5, 2)[:3].any()
    np.testing.assert_array_equal(el.Documents([2], align="end").dense(5, 2)[3:], np.ones((2, 2)))


def test_packed_pairs():
    got = el.Documents([2, 0, 1], keys=[1, 2, 3]).dense(4, 7)
    np.testing.assert_array_equal(
        got.astype(int), [[1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0], [0] * 7]
    )


@given(st.lists(st.integers(0, 9), max_size=9), st.integers(0, 3), st.integers(0, 2**32))
def test_changing_a_document_leaves_the_others_alone(lengths, padding, seed):
    n = sum(lengths) + padding
    rng = np.random.default_rng(seed)
    q, k, v = rng.standard_normal((3, n, 4))
    output = reference.steps(q, k, v, mask=el.Documents(lengths)).output
    begin = 0
    for length in lengths:
        part = slice(begin, begin + length)
        alone = reference.steps(q[part], k[part], v[part]).output
        np.testing.assert_allclose(output[part], alone, atol=1e-14)
        begin += length
    assert (output[begin:] == 0).all()


def test_documents_of_equal_length_cost_their_squares():
    assert el.Documents([100] * 10).share(1000) == pytest.approx(0.1)
    assert el.Documents([100] * 10).share(2000) == pytest.approx(0.025)
    lowered = el.Documents([1000] * 100).lower(AttentionShape((1,), 8, 100_000, 100_000))
    assert lowered.bounds.shape == (1, 1, 100_000, 1, 2)


def test_a_prefix_is_seen_by_all():
    i, j = np.arange(5)[:, None], np.arange(5)
    for n in (0, 1, 3, 5, 9, 2**40):
        np.testing.assert_array_equal(el.PrefixLM(n).dense(5), (j < n) | (j <= i))
    got = el.PrefixLM([0, 4]).dense(5, batch=2)[:, 0]
    np.testing.assert_array_equal(got[0], j <= i)
    np.testing.assert_array_equal(got[1], (j < 4) | (j <= i))
    np.testing.assert_array_equal(el.PrefixLM(3, align="end").dense(2, 5), ((j < 3) | (j <= i))[3:])
    assert el.PrefixLM(3) == el.PrefixLM([3]) == el.PrefixLM(np.int64(3))


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (el.Documents([3, 5, 2]), "Documents([3, 5, 2])"),
        (el.Documents([]), "Documents([])"),
        (el.Documents([512] * 100), "Documents([512, 512, 512, 512, 512, 512, ... 100 in all])"),
        (el.Documents([[1], [2, 3]]), "Documents([[1], [2, 3]])"),
        (el.Documents([[1]] * 5), "Documents([[1], [1], [1], [1], ... 5 in all])"),
        (el.Documents([2], keys=[3]), "Documents([2], keys=[3])"),
        (el.Documents((2, 1), align="end"), "Documents([2, 1], align='end')"),
        (el.PrefixLM(4), "PrefixLM(4)"),
        (el.PrefixLM([4, 5], "start"), "PrefixLM([4, 5], align='start')"),
        (el.PrefixLM(range(20)), "PrefixLM([0, 1, 2, 3, 4, 5, ... 20 in all])"),
    ],
)
def test_they_print_as_what_they_mean(mask, text):
    assert repr(mask) == text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.Documents(3), "lengths must be whole numbers, one per document, got int64 array of shape ()"),
        (
            lambda: el.Documents([1.5]),
            "lengths must be whole numbers, one per document, got float64 array of shape (1,)",
        ),
        (lambda: el.Documents([-1]), "lengths must be 0 or more, got -1"),
        (lambda: el.Documents([[1], [-1]]), "lengths must be 0 or more, got -1"),
        (
            lambda: el.Documents([5, 6]).dense(10),
            "lengths must add up to at most the sequence's 10 tokens, got 11: Docum",
        ),
        (
            lambda: el.Documents([[1], [2]]).dense(4, batch=3),
            "lengths must be one list, or one per batch element (3), g",
        ),
        (
            lambda: el.Documents([1]).dense(3, 4),
            "align must be given where queries and keys differ in number, got Docum",
        ),
        (
            lambda: el.Documents([1, 2], keys=[1]),
            "keys must have as many documents as lengths, [1, 2], got [1]; a docum",
        ),
        (
            lambda: el.Documents([1], keys=[1], align="end"),
            "align must be left out where keys= says where each document",
        ),
        (lambda: el.Documents([1], keys=[9]).dense(3, 4), "keys must add up to at most the sequence's 4 tokens, got 9"),
        (
            lambda: el.Documents([4], keys=[1]).dense(3, 4),
            "lengths must add up to at most the sequence's 3 tokens, got",
        ),
        (lambda: el.PrefixLM(-1), "n must be 0 or more, got -1"),
        (lambda: el.PrefixLM(1.0), "n must be whole numbers, one per batch element, got float64 array of shape (1,)"),
        (lambda: el.PrefixLM(True), "n must be whole numbers, one per batch element, got bool array of shape (1,)"),
        (
            lambda: el.PrefixLM([1, 2]).dense(4, batch=3),
            "n must be one number per batch element (3), got 2: PrefixLM([1, 2",
        ),
        (
            lambda: el.PrefixLM(1).dense(3, 4),
            "align must be given where queries and keys differ in number, got PrefixLM(1)",
        ),
        (lambda: el.PrefixLM(1, "top"), 'align must be "start", "end", a key\'s number or None, got '),
    ],
)
def test_errors_say_what_was_wrong_and_what_to_do(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def of_tokens():
    """Readouts that documents can be cut out of."""
    kinds = [el.TopK(3), el.Entropy(), el.MeanDistance(), el.OffsetMass([-30, -2, 0, 1, 9, 40])]
    return [*kinds, el.Received()], [*kinds, el.Received("mean")], [*kinds, el.Received("max")]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.sampled_from(of_tokens()), st.booleans())
def test_a_document_cut_out_of_an_observation_is_the_document_alone(lengths, read, sinks):
    rng = np.random.default_rng(sum(lengths))
    q, k, v = rng.standard_normal((3, 2, 3, sum(lengths), 4)).astype(np.float32)
    scores = el.Sinks(np.array([0.5, -1.0, 2.0])) if sinks else ()
    packed = el.observe(q, k, v, mask=el.Documents(lengths), scores=scores, read=read)
    first = 0
    for length in lengths:
        rows = slice(first, first + length)
        alone = el.observe(q[:, :, rows], k[:, :, rows], v[:, :, rows], scores=scores, read=read)
        cut = packed.document(first, first + length)
        np.testing.assert_allclose(cut.output, alone.output, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(cut.lse, alone.lse, rtol=1e-5, atol=1e-5)
        assert (cut.sink is None) == (alone.sink is None)
        for ours, theirs in zip(cut.results, alone.results, strict=True):
            assert (ours.shape, ours.first, ours.count) == (theirs.shape, theirs.first, theirs.count)
            for x, y in zip(ours.arrays, theirs.arrays, strict=True):
                assert x.dtype == y.dtype
                np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
        first += length


def test_documents_are_cut_where_there_are_tokens_and_of_what_is_theirs():
    x = np.eye(4)
    seen = el.observe(x, x, x, mask=el.Documents([1, 3]), read=el.Entropy())
    for first, last in ((-1, 2), (2, 1), (0, 5)):
        with pytest.raises(ValueError, match=r"^first and last must be 0 <= first <= last <= 4, got "):
            seen.document(first, last)
    for readout in (el.Weights(), el.Pooled(2, 2), el.GroupMass([0, 1, 0, 1])):
        with pytest.raises(ValueError, match=r"^read must hold readouts of single tokens"):
            el.observe(x, x, x, read=readout).document(0, 1)

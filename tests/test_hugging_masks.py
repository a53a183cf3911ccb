"""Masks of transformers, read as structure: what they allow is what transformers' own dense mask allows."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import masking_utils as theirs

import eyeline as el
from eyeline.huggingface.mask_interface import StructuredMask, mask
from eyeline.huggingface.mask_structure import Positions, UnreadableError, structure
from eyeline.masks import AttentionShape, Mask

CAUSAL, BOTH = theirs.causal_mask_function, theirs.bidirectional_mask_function


def third(b, h, q, k):
    """A user's own: not one of transformers'."""
    return (q - k) % 3 != 1


def looked_up(b, h, q, k):
    """A user's own that takes single positions."""
    return torch.where(k > 2, torch.ones((), dtype=torch.bool), q > 1)


def dense(made: object, shape: tuple[int, ...]) -> np.ndarray:
    assert isinstance(made, StructuredMask)
    B, _, N, M = shape
    if made.mask is None:
        return np.ones((B, N, M), bool)
    return np.broadcast_to(made.mask.dense(N, M, batch=B), (B, 1, N, M) if B > 1 else (N, M)).reshape(B, N, M)


def want(function, place: Positions, tokens: torch.Tensor | None, batch: int, use_vmap: bool) -> np.ndarray:
    found = theirs.sdpa_mask(
        batch,
        place.queries,
        place.keys,
        place.first_query,
        place.first_key,
        function,
        tokens,
        allow_is_causal_skip=False,
        use_vmap=use_vmap,
    )
    return found[:, 0].numpy()


@st.composite
def places(draw, batch: int):
    """A call: a whole text, a chunk after a cache, one with old keys gone, or with room to come; and its padding."""
    kind = draw(st.sampled_from(("whole", "chunk", "sliding", "static")))
    N = draw(st.integers(1, 9))
    before = 0 if kind == "whole" else draw(st.integers(0, 7))
    gone = draw(st.integers(0, before)) if kind == "sliding" else 0
    room = draw(st.integers(0, 5)) if kind == "static" else 0
    place = Positions(N, before - gone + N + room, before, gone)
    padding = draw(st.sampled_from(("none", "all there", "left", "right", "holes", "both sides")))
    if padding == "none":
        return place, None
    tokens = torch.ones(batch, before + N, dtype=torch.bool)
    for row in tokens:
        count = draw(st.integers(0, before + N - 1))
        if padding == "left":
            row[:count] = False
        elif padding == "right":
            row[len(row) - count :] = False
        elif padding == "both sides":
            row[:1] = row[len(row) - count :] = False
        elif padding == "holes":
            row[torch.tensor(draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row))))] = False
    return place, tokens


def functions(batch: int, place: Positions, draw) -> tuple[object, bool]:
    """One of transformers' mask functions or of a user's, and whether it takes single positions."""
    size, ends = draw(st.integers(1, 5)), place.first_key + place.keys
    padding = torch.tensor(draw(st.lists(st.integers(0, 3), min_size=batch, max_size=batch)))
    labels = torch.tensor(
        [draw(st.lists(st.sampled_from((-1, -1, 0, 1)), min_size=ends, max_size=ends)) for _ in padding]
    )
    sorted_labels = torch.where(labels < 0, labels, labels.cummax(1).values)
    known = {
        "causal": CAUSAL,
        "both": BOTH,
        "window": theirs.sliding_window_causal_mask_function(size),
        "window both": theirs.sliding_window_bidirectional_mask_function(size),
        "window alone": theirs.sliding_window_overlay(size),
        "chunks": theirs.chunked_causal_mask_function(size, padding),
        "blocks alone": theirs.blockwise_overlay(labels),
        "blocks": theirs.or_masks(CAUSAL, theirs.blockwise_overlay(sorted_labels)),
        "scattered blocks": theirs.or_masks(CAUSAL, theirs.blockwise_overlay(labels)),
        "or": theirs.or_masks(theirs.sliding_window_causal_mask_function(size), BOTH),
        "own": theirs.and_masks(CAUSAL, third),
        "own, one by one": theirs.and_masks(CAUSAL, looked_up),
    }
    name = draw(st.sampled_from(sorted(known)))
    return known[name], name == "own, one by one"


@given(st.data())
def test_what_is_allowed_is_what_transformers_allows(data):
    batch = data.draw(st.sampled_from((1, 2)))
    place, tokens = data.draw(places(batch))
    function, use_vmap = functions(batch, place, data.draw)
    made = mask(batch, place.queries, place.keys, place.first_query, place.first_key, function, tokens, use_vmap)
    expected = want(function, place, tokens, batch, use_vmap)
    np.testing.assert_array_equal(dense(made, made.shape), expected)
    # What is computed is the same, and is lowered once for all layers; it is None where nothing is hidden.
    if made.computed is None:
        assert expected.all()
    else:
        shape = AttentionShape((batch,), 2, place.queries, place.keys)
        assert made.computed.is_plain or made.computed.lower(shape) is made.computed.lower(shape)
        np.testing.assert_array_equal(np.broadcast_to(made.computed.rule(shape), shape.shape)[:, 0], expected)


def test_decoding_has_no_mask_where_nothing_is_hidden():
    """All steps are then calls of one kind. Padding, and a window that ends, need a mask."""
    history = torch.ones(2, 8, dtype=torch.bool)
    window = theirs.sliding_window_causal_mask_function
    assert mask(2, 1, 8, 7, 0, CAUSAL, history).computed is None
    assert mask(2, 1, 8, 7, 0, window(8), history).computed is None
    assert mask(2, 1, 8, 7, 0, window(7), history).computed is not None
    assert mask(2, 3, 8, 5, 0, CAUSAL, history).computed is not None
    history[1, 0] = False
    assert mask(2, 1, 8, 7, 0, CAUSAL, history).computed is not None


@given(st.data())
def test_packed_texts_are_documents(data):
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    positions = torch.cat([torch.arange(n) for n in lengths])[None]
    packed = theirs.find_packed_sequence_indices(positions)
    inner = data.draw(st.sampled_from((CAUSAL, theirs.sliding_window_causal_mask_function(2))))
    remapped = theirs.remap_positions_for_packed_sequence(inner, positions)
    place, several = Positions(sum(lengths), sum(lengths), 0, 0), packed is not None
    function = theirs.and_masks(remapped, theirs.packed_sequence_mask_function(packed)) if several else inner
    made = mask(1, place.queries, place.keys, 0, 0, function)
    np.testing.assert_array_equal(dense(made, made.shape), want(function, place, None, 1, False))
    assert "Dense" not in repr(made.mask)
    assert not several or f"Documents({lengths})" in repr(made.mask)


PLACES = {
    "whole": Positions(6, 6, 0, 0),
    "chunk": Positions(3, 8, 5, 0),
    "sliding": Positions(1, 4, 7, 4),
    "static": Positions(2, 16, 7, 0),
}


@pytest.mark.parametrize(
    ("place", "function", "text"),
    [
        ("whole", CAUSAL, "Causal()"),
        ("whole", BOTH, "None"),
        ("chunk", CAUSAL, "Causal(align=5)"),
        (
            "sliding",
            theirs.sliding_window_causal_mask_function(4),
            "Causal(align=3) & Window(before=3, after=0, align=3)",
        ),
        ("static", CAUSAL, "Causal(align=7)"),
        ("whole", theirs.sliding_window_bidirectional_mask_function(2), "Window(before=2, after=2)"),
        ("whole", theirs.chunked_causal_mask_function(4, torch.tensor([0])), "Causal() & Documents([4, 2])"),
        (
            "chunk",
            theirs.chunked_causal_mask_function(4, torch.tensor([0, 3])),
            "Causal(align=5) & Documents([[4, 4], [3, 4, 1]], align=5)",
        ),
    ],
)
def test_masks_come_as_what_they_are(place, function, text):
    at = PLACES[place]
    made = mask(2, at.queries, at.keys, at.first_query, at.first_key, function)
    assert repr(made.mask) == text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([[1, 1, 1], [1, 1, 1]], "Causal()"),
        ([[1, 1, 1], [0, 0, 1]], "Causal() & Padding(keys=[3, 1], side='left')"),
        ([[1, 1, 1], [1, 0, 0]], "Causal() & Padding(keys=[3, 1])"),
        ([[0, 1, 1], [1, 1, 0]], "Causal() & Intervals(2 × 1 rows of at most 1)"),
        ([[0, 0, 0], [1, 0, 1]], "Causal() & Dense(2 × 1 × 1 × 3, 33% allowed)"),
    ],
)
def test_padding_comes_as_what_it_is(tokens, text):
    made = mask(2, 3, 3, 0, 0, CAUSAL, torch.tensor(tokens, dtype=torch.bool))
    assert repr(made.mask) == text


def test_room_to_come_needs_no_word():
    """A static cache's empty places lie in the future, which a causal mask hides."""
    tokens = torch.tensor([[1, 1, 1], [0, 1, 1]], dtype=torch.bool)
    assert repr(mask(2, 3, 8, 0, 0, CAUSAL, tokens).mask) == "Causal(align=0) & Padding(keys=[8, 7], side='left')"


def test_what_cannot_be_read_is_asked_in_blocks_and_kept_as_intervals(monkeypatch):
    from eyeline.huggingface import mask_interface

    asked = []

    def bands(b, h, q, k):
        asked.append(tuple(torch.broadcast_shapes(q.shape, k.shape)))
        return ((q - k) % 50 < 10) & (k <= q)

    monkeypatch.setattr(mask_interface, "_BLOCK_SIZE", 7 * 200)
    made = mask(1, 200, 200, 0, 0, bands)
    assert isinstance(made.mask, el.Intervals)
    assert len(asked) > 20
    assert max(np.prod(shape) for shape in asked) <= 7 * 200
    np.testing.assert_array_equal(dense(made, made.shape), want(bands, Positions(200, 200, 0, 0), None, 1, False))


def test_a_mask_is_made_of_structure_at_any_length():
    """No array that grows with N · M: a million tokens."""
    n = 1 << 20
    tokens = torch.ones(1, n, dtype=torch.bool)
    tokens[0, :5] = False
    made = mask(1, n, n, 0, 0, theirs.sliding_window_causal_mask_function(4096), tokens)
    text = f"Causal() & Window(before=4095, after=0) & Padding(keys=[{n - 5}], side='left')"
    assert repr(made.mask) == text
    assert made.shape == (1, 1, n, n)


def test_a_mask_made_before_is_handed_on():
    made = mask(1, 3, 3, 0, 0, CAUSAL)
    assert mask(1, 3, 3, 0, 0, BOTH, made) is made
    assert made.ndim == len(made.shape) == 4


def test_an_offset_that_moves_later_is_copied():
    """A static cache advances its own tensor in place."""
    offset = torch.tensor(4)
    made = mask(1, 1, 8, offset, 0, CAUSAL)
    offset += 1
    assert repr(made.mask) == "Causal(align=4)"
    assert made.positions.first_query == 4


def test_functions_that_only_look_like_transformers_own_are_not_believed():
    def causal_mask_function(b, h, q, k):
        return k > q

    with pytest.raises(UnreadableError, match="causal_mask_function"):
        structure(causal_mask_function, Positions(3, 3, 0, 0))
    made = mask(1, 3, 3, 0, 0, causal_mask_function)
    np.testing.assert_array_equal(dense(made, made.shape)[0], ~np.tri(3, dtype=bool))


def test_restarting_positions_are_not_read_where_places_matter():
    """Chunks of a packed text are counted from each text's beginning, which places don't say."""
    positions = torch.tensor([[0, 1, 2, 0, 1, 2, 3, 4]])
    packed = theirs.packed_sequence_mask_function(theirs.find_packed_sequence_indices(positions))
    chunks = theirs.chunked_causal_mask_function(2, torch.tensor([0]))
    function = theirs.and_masks(theirs.remap_positions_for_packed_sequence(chunks, positions), packed)
    place = Positions(8, 8, 0, 0)
    with pytest.raises(UnreadableError):
        structure(function, place)
    made = mask(1, 8, 8, 0, 0, function)
    np.testing.assert_array_equal(dense(made, made.shape), want(function, place, None, 1, False))


def test_masking_prints_as_its_mask():
    assert re.fullmatch(r"StructuredMask\(Causal\(\), 1 × 1 × 3 × 3\)", repr(mask(1, 3, 3)))
    assert isinstance(mask(1, 3, 3).mask, Mask)

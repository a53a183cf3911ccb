"""Words come from the user's text by offsets, never from the tokenizer's spelling."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyeline.models import load
from eyeline.models.tokens import group, split

_ALPHABET = st.sampled_from("aZé İßﬁệ'’.,-_1٣東京かなشَअ्ก‍\u0301\u200b\ufe0f👩🚀🏽🇫🇷🩷!?[]\t\n\x00 \u00ad")
_TEXT = st.text(_ALPHABET, max_size=30) | st.text(max_size=30)


@pytest.fixture(scope="module")
def minilm():
    return load()


def words_of(tokens):
    return [tokens.word(number) for number in range(len(tokens.spans))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time flies like an arrow", ["time", "flies", "like", "an", "arrow"]),
        ("  Time\tFLIES\n", ["Time", "FLIES"]),
        ("Don't, y'all! It’s O'Brien's.", ["Don't", ",", "y'all", "!", "It’s", "O'Brien's", "."]),
        ("state-of-the-art", ["state", "-", "of", "-", "the", "-", "art"]),
        ("'quoted' (so)", ["'", "quoted", "'", "(", "so", ")"]),
        ("3.14 and 1,000 cost $5.", ["3.14", "and", "1,000", "cost", "$", "5", "."]),
        ("snake_case unbelievably", ["snake_case", "unbelievably"]),
        ("café cafe\u0301 NAÏVE", ["café", "cafe\u0301", "NAÏVE"]),
        ("Tiếng Việt rất hay", ["Tiếng", "Việt", "rất", "hay"]),
        ("Tie\u0302\u0301ng Vie\u0323\u0302t", ["Tie\u0302\u0301ng", "Vie\u0323\u0302t"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("مَرْحَبًا", ["مَرْحَبًا"]),
        ("我爱北京。", ["我", "爱", "北", "京", "。"]),
        ("İstanbul ﬁne", ["İstanbul", "ﬁne"]),
        ("I ❤️ you 👍🏽 !", ["I", "❤️", "you", "👍🏽", "!"]),
        ("👨‍👩‍👧 came", ["👨‍👩‍👧", "came"]),
        ("🇫🇷 wins", ["🇫🇷", "wins"]),
        ("a [MASK] b", ["a", "[MASK]", "b"]),
        ("", []),
        (" \n\u200b", []),
    ],
)
def test_words_appear_as_typed(minilm, text, words):
    assert words_of(minilm.tokens(text)) == words


def test_pieces_of_a_word_belong_to_it(minilm):
    tokens = minilm.tokens("Don't fly state-of-the-art hoverboards")
    assert tokens.pieces[0] == "[CLS]"
    assert tokens.pieces[-1] == "[SEP]"
    assert tokens.special == [True] + [False] * (len(tokens) - 2) + [True]
    assert tokens.words[0] is tokens.words[-1] is None
    of = {tokens.word(number): [] for number in range(len(tokens.spans))}
    for piece, number in zip(tokens.pieces, tokens.words, strict=True):
        if number is not None:
            of[tokens.word(number)].append(piece)
    assert of["Don't"] == ["don", "'", "t"]
    assert of["fly"] == ["fly"]
    assert "".join(piece.removeprefix("##") for piece in of["hoverboards"]) == "hoverboards"
    assert len(of["hoverboards"]) > 1


def test_an_unknown_piece_joins_the_words_that_it_covers(minilm):
    # The tokenizer makes one [UNK] of everything between two spaces that has an unknown letter in it.
    tokens = minilm.tokens("go 👩‍🚀🚀🩷 now")
    assert tokens.pieces == ["[CLS]", "go", "[UNK]", "now", "[SEP]"]
    assert words_of(tokens) == ["go", "👩‍🚀🚀🩷", "now"]


def test_bytes_of_one_emoji_are_one_word():
    # Byte-level tokenizers give each of its bytes the place of the whole character; some put the space before it too.
    text = "go 🚀 now"
    words, spans = group(text, [(0, 2), (2, 4), (3, 4), (3, 4), (3, 4), (4, 8)])
    assert words == [0, 1, 1, 1, 1, 2]
    assert [text[first:last] for first, last in spans] == ["go", "🚀", "now"]


def test_pieces_without_width_and_bare_spaces():
    text = "go  now"
    words, spans = group(text, [(0, 0), (0, 2), (2, 3), (3, 3), (4, 4), (4, 7), (7, 7), None])
    assert words == [0, 0, None, None, 1, 1, None, None]
    assert spans == [(0, 2), (4, 7)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(_TEXT)
def test_split_covers_all_but_spaces_once(text):
    spans = split(text)
    covered = [place for first, last in spans for place in range(first, last)]
    assert covered == sorted(set(covered))
    assert not any(character.isspace() for first, last in spans for character in text[first:last])
    left = set(range(len(text))) - set(covered)
    assert all(not text[place].isprintable() or text[place].isspace() for place in left)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(_TEXT, st.data())
def test_grouping_holds_every_piece_in_one_word(text, data):
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=8))})
    offsets = list(itertools.pairwise(cuts))
    words, spans = group(text, offsets)
    found = [number for number in words if number is not None]
    assert found == sorted(found)
    assert set(found) == set(range(len(spans)))  # no word without a piece
    assert all(last <= first for (_, last), (first, _) in itertools.pairwise(spans))
    letters = {place for first, last in split(text) for place in range(first, last)}
    for (first, last), number in zip(offsets, words, strict=True):
        inside = [place for place in range(first, last) if place in letters]
        assert (number is None) == (not inside)
        if number is not None:
            assert spans[number][0] <= inside[0]
            assert inside[-1] < spans[number][1]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=_TEXT)
def test_any_text_becomes_tokens(minilm, text):
    tokens = minilm.tokens(text)
    assert len(tokens.ids) == len(tokens.pieces) == len(tokens.offsets) == len(tokens.special) == len(tokens.words)
    assert tokens.ids[0] == 101
    assert tokens.ids[-1] == 102
    for (first, last), number in zip(tokens.offsets, tokens.words, strict=True):
        if number is not None:
            assert tokens.text[first:last].strip() in tokens.word(number)
    for number in range(len(tokens.spans)):
        assert tokens.word(number).strip() == tokens.word(number) != ""

"""`eyeline.compare` with the real model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.models import load

A, B = "time flies like an arrow", "fruit flies like a banana"


@pytest.fixture(scope="module")
def minilm():
    return load()


def cosines(found):
    return [entry.cosine for entry in found.cosines]


def test_flies_in_two_sentences(minilm):
    found = el.compare(A, B, "flies", model=minilm)
    assert [round(entry.cosine, 3) for entry in found.cosines] == [1.0, 0.917, 0.903, 0.871, 0.807, 0.808, 0.631]
    assert [entry["layer"] for entry in found.document()["cosines"]] == [None, *range(6)]
    drawn = str(found)
    assert "From the embedding to after L5 the cosine of the two goes from 1.000 to 0.631." in drawn
    assert "In A, flies takes most from time (17%) and itself (14%)." in drawn
    assert repr(found).count("\n") == 0


@pytest.mark.parametrize("asked", [{}, {"layer": 1}, {"head": 3}, {"layer": 2, "head": 11, "special": True}])
def test_each_side_is_what_explain_says(minilm, asked):
    found = el.compare(A, B, "flies", model=minilm, **asked)
    for side, text in zip(found.sides, (A, B), strict=True):
        alone = el.explain(text, "flies", model=minilm, **asked)
        assert side.words == alone.words
        np.testing.assert_allclose(side.shares, alone.shares, atol=1e-6)
        assert side.shares.sum() == pytest.approx(1)
    document = json.loads(found.json())
    assert document == found.document()
    for side, text in zip(document["sides"], (A, B), strict=True):
        run = el.explain(text, "flies", model=minilm, **asked).document()["runs"][0]
        assert side["looks_at"] == run["looks_at"]
        assert side["set_aside"] == run["set_aside"]


def test_a_word_compared_with_itself_and_the_other_way_round(minilm):
    same = el.compare(A, A, "flies", model=minilm)
    np.testing.assert_allclose(cosines(same), 1, atol=1e-6)
    one, other = el.compare(A, B, "flies", model=minilm), el.compare(B, A, "flies", model=minilm)
    np.testing.assert_allclose(cosines(one), cosines(other), atol=1e-12)
    np.testing.assert_array_equal(one.sides[0].weights, other.sides[1].weights)


def test_a_word_of_several_pieces_is_their_mean(minilm):
    texts = ("Tôi yêu tiếng Việt", "tiếng mẹ đẻ")
    found = el.compare(*texts, "tiếng", model=minilm)
    vectors = []
    for text in texts:
        tokens = minilm.tokens(text)
        number = [tokens.word(word) for word in range(len(tokens.spans))].index("tiếng")
        places = [place for place, word in enumerate(tokens.words) if word == number]
        assert len(places) > 1
        vectors.append([state[0, places].mean(axis=0) for state in minilm.run([tokens.ids]).hidden_states])
    expected = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(*vectors, strict=True)]
    np.testing.assert_allclose(cosines(found), expected, atol=1e-5)


def test_which_of_several(minilm):
    twice = "flies like flies"
    with pytest.raises(QuestionError, match=r"^text A: token must be one word .* say which with nth_a=1 or 2$"):
        el.compare(twice, B, "flies", model=minilm)
    second = el.compare(twice, B, "flies", nth_a=2, model=minilm)
    assert second.sides[0].token_units == (3,)
    assert el.compare(twice, twice, "flies", nth=2, nth_b=1, model=minilm).sides[0].nth == 2
    assert el.compare(twice, twice, "flies", nth=2, nth_b=1, model=minilm).sides[1].nth == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((A, "bananas", "flies"), "text B: token must be a word of the text, got 'flies', .* the words are bananas"),
        (("", B, "flies"), "text_a must have at least one word, got ''"),
        ((A, " ", "flies"), "text_b must have at least one word, got ' '"),
        ((A, B, ""), "token must be a word of the text, got ''"),
    ],
)
def test_wrong_questions_say_what_to_do(minilm, arguments, message):
    with pytest.raises(QuestionError, match=message):
        el.compare(*arguments, model=minilm)

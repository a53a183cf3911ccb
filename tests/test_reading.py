"""What a model reads in place of a text is said: accents that its tokenizer drops, and words cut into letters."""

from __future__ import annotations

import dataclasses

import pytest

import eyeline as el
from eyeline.traces import record
from eyeline.traces.tokenized_text import of_words
from eyeline.views.reading import in_crumbs, reading_notes, without_accents

VIETNAMESE = "con ruồi thích quả chuối được không"
ACCENTS = "Read without accents: ruồi as ruoi, thích as thich, quả as qua, chuối as chuoi and 2 more."
FOREIGN = "This text is in Vietnamese, and {} was trained on English alone; the model e5 reads Vietnamese."
CRUMBS = "Most words are read in pieces of a letter or two: smollm2 was hardly trained on this language."


def test_accents_that_the_tokenizer_drops_are_said():
    assert reading_notes(record(VIETNAMESE), None) == [FOREIGN.format("minilm"), ACCENTS]
    assert without_accents(record("A naïve Café in München").queries) == {
        "naïve": "naive",
        "Café": "cafe",
        "München": "munchen",
    }


def test_a_composed_and_a_decomposed_accent_are_alike():
    assert without_accents(record("cafe\u0301 caf\u00e9").queries) == {"cafe\u0301": "cafe", "caf\u00e9": "cafe"}


@pytest.mark.parametrize("text", ["time flies like an arrow", "Straße 東京 100% don't", "I ❤ NY", "👍🏽 fine"])
def test_nothing_is_said_where_nothing_is_lost(text):
    for model in ("minilm", "smollm2"):
        assert reading_notes(record(text, model=model), None) == []


def test_words_cut_into_letters_are_said():
    trace = record(VIETNAMESE, model="smollm2")
    assert reading_notes(trace, None) == [FOREIGN.format("smollm2")]  # which says it better
    assert in_crumbs(trace.queries)
    other = dataclasses.replace(trace, model=dataclasses.replace(trace.model, name="/a/folder"))
    assert reading_notes(other, None) == [CRUMBS.replace("smollm2", "/a/folder")]
    assert not in_crumbs(record("Der schnelle braune Fuchs springt", model="smollm2").queries)
    assert not in_crumbs(record("được", model="smollm2").queries)  # too few to judge by


def test_a_users_own_words_are_read_as_they_are():
    assert without_accents(of_words(["ruồi", "thích"])) == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda: el.explain(VIETNAMESE, "ruồi"),
        lambda: el.explain(VIETNAMESE),
        lambda: el.rollout(VIETNAMESE),
        lambda: el.heads(VIETNAMESE),
        lambda: el.compare(VIETNAMESE, VIETNAMESE, "ruồi"),
    ],
)
def test_every_view_says_it(make):
    answer = make()
    assert ACCENTS in " ".join(str(answer).split())
    markup = answer._repr_html_().replace("<bdi>", "").replace("</bdi>", "")
    assert ACCENTS in markup

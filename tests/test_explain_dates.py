"""`explain` of an encoder-decoder: what it looks at while it writes, while it reads, and in what it has written."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.models import load
from eyeline.traces import TraceError
from eyeline.views.answer_pages import explanation_page

TEXT = "3rd of March, 2021"


@pytest.fixture(scope="module")
def model():
    return load("dates")


@pytest.fixture(scope="module")
def answer(model):
    return el.explain(TEXT, model=model)


def test_a_head_beyond_its_heads_is_refused(model):
    with pytest.raises(TraceError, match="keep must name heads from L0H0 to L1H3, got 'L0H9'"):
        el.explain(TEXT, model=model, keep=["L0H9"])


def test_a_decoder_without_rotary_positions_says_nothing_of_them(model):
    from eyeline.views.explanation_terminal import explanation
    from eyeline.views.ink import Ink

    found = el.explain(TEXT, "2021", kind="decoder", steps=True, model=model)
    assert "rotary" not in " ".join(line.plain for line in explanation(found, Ink("utf-8", 80)))


def test_its_numbers_are_those_of_its_traces(answer):
    *_, cross = answer.traces
    assert (answer.text, answer.written) == (TEXT, "2021-03-03")
    assert answer.words == ["3rd", "of", "March", ",", "2021"]
    assert answer.cross.words == answer.decoder.words == ["2021", "-", "03", "-", "03"]
    weights = cross.layers[1].weights.mean(0)
    np.testing.assert_allclose(answer.cross.token_weights, weights, atol=1e-6)
    np.testing.assert_allclose(answer.cross.weights.sum(1), 1, atol=1e-6)
    # March is the letters 7 to 11, and the month is written by the steps 5 and 6.
    assert answer.word_numbers[2, 2] == pytest.approx(weights[5:7, 7:12].sum(1).mean(), abs=1e-6)
    assert answer.word_numbers[2].argmax() == 2
    np.testing.assert_allclose(answer.runs[0].matrix.weights.sum(1), 1, atol=1e-6)
    assert answer.decoder.runs[0].matrix.hidden is not None


def test_a_word_that_was_read_is_the_encoders(model):
    march = el.explain(TEXT, "March", model=model)
    assert march.cross.word is None
    assert march.question.token == "March"
    alone = el.explain(TEXT, "March", model=model, kind="encoder")
    np.testing.assert_array_equal(march.weights, alone.weights)
    assert march.moved is not None
    assert alone.model.name == f"{model.name}, encoder"


def test_steps_of_a_word_that_was_read_have_its_projections(model):
    alone = el.explain(TEXT, "March", steps=True, model=model, kind="encoder").steps.projections
    found = el.explain(TEXT, "March", steps=True, model=model).steps.projections
    np.testing.assert_array_equal(found.query, alone.query)
    assert (found.width, found.added_length) == (64, alone.added_length)


def test_a_word_that_was_written_is_that_of_the_steps_that_wrote_it(model, answer):
    month = el.explain(TEXT, "03", nth=1, model=model)
    word = month.cross.word
    assert (word.token, word.nth, word.units) == ("03", 1, (2,))
    assert [look.text for look in word.looks_at if look.share is not None] == answer.words
    np.testing.assert_allclose([look.weight for look in word.looks_at], answer.cross.weights[2], atol=1e-9)
    assert sum(look.weight for look in word.before) == pytest.approx(1, abs=1e-6)
    assert [look.weight for look in word.before][4:] == [0, 0]  # not written yet
    assert month.question.token is None


def test_a_word_of_both_is_taken_as_read_unless_asked_for(model):
    assert el.explain(TEXT, "2021", model=model).question.token == "2021"
    year = el.explain(TEXT, "2021", model=model, kind="cross").cross.word
    assert max(year.looks_at, key=lambda look: look.weight).text == "2021"


def test_what_was_written_can_be_given(model):
    given = el.explain(TEXT, model=model, kind="cross", target="1999-12-31")
    assert given.written == "1999-12-31"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token": "May"}, "'May', which isn't there; the words are 3rd, of, March, 2021"),
        ({"token": "03"}, "'03', which is there 2 times: 1 is - \\[03\\] -; 2 is - \\[03\\]; say which with nth"),
        ({"token": "March", "kind": "cross"}, "'March', which isn't there; the words are 2021, 03"),
        (
            {"token": "03", "nth": 1, "steps": True},
            "token must be a word of the text that is read with steps, got '03'",
        ),
        (
            {"mask": "causal"},
            'mask must be left out with all parts of an encoder-decoder, got Causal\\(\\); kind="encoder"',
        ),
        ({"generate": 2}, "generate must be left out with an encoder-decoder, which writes by itself"),
        ({"layer": 2}, "layer must be from 0 to 1 in dates, got 2"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises(QuestionError, match=message):
        el.explain(TEXT, model="dates", **options)


def test_a_model_without_parts_has_no_cross_attention():
    with pytest.raises(ValueError, match="kind must be left out"):
        el.explain("time flies", model="minilm", kind="cross")


def test_the_terminal_shows_all_three_kinds(model):
    printed = str(el.explain(TEXT, model=model))
    lines = printed.splitlines()
    assert lines[0] == f"{TEXT} → 2021-03-03"
    rows = [line.split()[0] for line in lines if line[:3].strip() and line.startswith("  ")][:11]
    assert rows == [*"2021-03-03", "[END]"]
    for kind in ("cross-attention", "the encoder's self-attention", "the decoder's self-attention"):
        assert kind in printed
    assert "03 → March" in " ".join(printed.split())


def test_the_terminal_shows_one_written_word(model):
    printed = str(el.explain(TEXT, "03", nth=1, model=model))
    assert "While it writes 03, it looks at: cross-attention" in printed
    assert "and, in what it has written, at: the decoder's self-attention" in printed


def test_its_scale_reaches_to_all_that_is_set_aside_together(model):
    asked = el.explain(TEXT, "03", nth=1, model=model)
    word = asked.cross.word
    weights = iter([0.2, 0.2, 0.2])  # of the three spaces, 0.6 in one bar
    looks = [replace(look, weight=next(weights) if look.share is None else 0.08) for look in word.looks_at]
    before = [replace(look, weight=0.1) for look in word.before]
    changed = replace(word, looks_at=tuple(looks), before=tuple(before))
    printed = str(replace(asked, cross=replace(asked.cross, word=changed)))
    assert re.search(r"^  spaces +█{22,24}\S? +60%$", printed, re.MULTILINE)
    assert "A full bar is 100%." in printed


def test_json_csv_and_png_have_its_numbers(answer, tmp_path):
    document = json.loads(answer.json())
    assert document["schema"] == "eyeline.explain/2"
    assert document["written"] == "2021-03-03"
    assert np.shape(document["cross"]["token_weights"]) == (11, 18)
    assert document["decoder"]["text"] == "2021-03-03"
    rows = list(csv.DictReader(answer.to_csv().splitlines()))
    assert len(rows) == 11 * 18
    assert float(rows[18 * 8]["weight"]) == pytest.approx(answer.cross.token_weights[8, 0], abs=1e-6)
    assert (rows[18 * 8]["row"], rows[18 * 8]["key"]) == ("0", "3")
    assert answer.save_png(tmp_path / "dates.png") == []
    assert (tmp_path / "dates.png").read_bytes().startswith(b"\x89PNG")


def test_a_notebook_shows_it_too(answer):
    shown = answer._repr_html_()
    assert f"{TEXT} → 2021-03-03" in shown
    assert shown.count("<table") == 3
    assert repr(answer).startswith(f"<Explanation of {TEXT!r} → '2021-03-03': dates")


def test_its_page_opens_on_cross_attention(answer, model):
    page = explanation_page(answer)
    assert [trace.name for trace in page.traces] == ["encoder", "decoder", "cross"]
    assert page.state["trace"] == 2
    assert page.opening.why == "across"
    asked = explanation_page(el.explain(TEXT, "03", nth=2, model=model))
    assert (asked.state["trace"], asked.state["token"]) == (2, 8)
    assert explanation_page(el.explain(TEXT, "March", model=model)).state["trace"] == 0

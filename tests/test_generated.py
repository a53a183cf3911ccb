"""Going on with a text: what new tokens are as text, whom the token before each looked at, and the command line."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_views import drawn, read
from tiny import END

import eyeline as el
from eyeline import cli
from eyeline.answers import QuestionError
from eyeline.models import Model
from eyeline.models.units import units_of

TEXT = "the cat and an owl"


def continued(model, text, ids):
    """What ids after a text are: the bits as they come, and the tokens of it all."""
    continuation = model.continuation(model.tokens(text))
    return [continuation.add(id) for id in ids], continuation.tokens


PARTS = st.sampled_from(["th", "the", " an", "x", "é", " Việt", "🎉", "👩‍🚀", " \n", "東京", "fly ", "3.1"])


@given(st.lists(PARTS, min_size=1, max_size=6), st.data())
def test_a_text_cut_anywhere_is_that_text_again(tiny_model, parts, data):
    whole = tiny_model.tokens("".join(parts))
    cut = data.draw(st.integers(0, len(parts) - 1))
    before = tiny_model.tokens("".join(parts[:cut]) or "a")
    rest = tiny_model.tokens("".join(parts[cut:]))
    said, after = continued(tiny_model, before.text, rest.ids)
    assert "".join(said) == rest.text
    assert after.text == before.text + rest.text
    assert after.ids == before.ids + rest.ids
    shift = len(before.text)
    assert after.offsets[len(before) :] == [(first + shift, last + shift) for first, last in rest.offsets]
    if cut and after.ids == whole.ids:
        assert after == whole


def test_tokens_that_a_text_would_not_be_cut_into_keep_their_places(tiny_model):
    ids = [tiny_model.tokens(letter).ids[0] for letter in "the"]
    said, after = continued(tiny_model, "a ", ids)
    assert (said, after.text) == (["t", "h", "e"], "a the")
    assert tiny_model.tokens("a the").ids != after.ids
    assert after.offsets[-3:] == [(2, 3), (3, 4), (4, 5)]
    assert [unit.text for unit in units_of(after, pieces=False) if not unit.extra] == ["a", "the"]
    assert [unit.text for unit in units_of(after, pieces=True)][-3:] == ["t", "h", "e"]


@pytest.mark.parametrize(("text", "cut"), [("🎉", 1), ("🎉", 2), ("ế", 1), ("👩‍🚀", 2)])
def test_a_character_of_several_tokens_is_one_word_also_if_it_was_never_ended(tiny_model, text, cut):
    ids = tiny_model.tokens(text).ids
    assert len(ids) > cut
    said, after = continued(tiny_model, "a ", ids)
    assert "".join(said) == text
    assert [unit.text for unit in units_of(after, pieces=False) if not unit.extra] == ["a", text]
    _, after = continued(tiny_model, "a ", ids[:cut])
    unit = units_of(after, pieces=False)[-1]
    assert set(unit.text) <= {"\ufffd", *text}
    assert unit.tokens == tuple(range(len(after) - cut, len(after)))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 255), max_size=12))
def test_any_bytes_lie_in_the_text_in_order(tiny_model, ids):
    said, after = continued(tiny_model, "a", ids)
    assert after.text == "a" + tiny_model.text(ids)
    assert after.text.startswith("a" + "".join(said))
    assert [first for first, _ in after.offsets] == sorted(first for first, _ in after.offsets)
    assert all(0 <= first <= last <= len(after.text) for first, last in after.offsets)
    covered = {place for first, last in after.offsets for place in range(first, last)}
    assert covered == set(range(len(after.text)))


def test_a_token_that_ends_a_text_is_special(tiny_model):
    (end,) = tiny_model.config.ends
    said, after = continued(tiny_model, "an", [end])
    assert (said, after.text, after.special, after.pieces[-1]) == ([""], "an", [False, True], END)


@pytest.mark.parametrize(("layer", "head"), [(None, None), (0, 2), (1, None)])
@pytest.mark.parametrize("choice", [{}, {"temperature": 1.5, "seed": 3}, {"temperature": 0.7, "top_p": 0.9, "seed": 1}])
def test_each_new_token_s_look_is_that_of_the_token_before_it(tiny_model, layer, head, choice):
    found = el.explain(TEXT, generate=8, layer=layer, head=head, model=tiny_model, **choice)
    prompt = tiny_model.tokens(TEXT).ids
    steps = list(tiny_model.generate(prompt, 8, **choice))
    assert [token.id for token in found.tokens] == prompt + [step.id for step in steps]
    whole = tiny_model.run([[token.id for token in found.tokens]], weights=True)
    weights = whole.layers[2 if layer is None else layer].weights[0].astype(float)
    weights = weights.mean(axis=0) if head is None else weights[head]
    document = found.document()["generated"]
    assert [entry["probability"] for entry in document["steps"]] == pytest.approx([s.probability for s in steps], 1e-6)
    for position, entry in enumerate(document["steps"], len(prompt)):
        assert (entry["new"]["token"], entry["by"]["token"]) == (position, position - 1)
        row = [weights[position - 1, unit["tokens"]].sum() for unit in found.document()["units"]]
        np.testing.assert_allclose([look["weight"] for look in entry["looks_at"]], row, atol=1e-5)
        shares = [look["share"] for look in entry["looks_at"] if look["share"] is not None]
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert entry["set_aside"] == pytest.approx(1 - sum(np.array(row)[found.document()["shown"]]), abs=1e-5)
    assert (document["prompt_tokens"], document["prompt_end"]) == (len(prompt), len(TEXT))
    assert found.document()["text"].startswith(TEXT)


def test_the_picture_is_of_all_and_new_words_may_be_asked_about(tiny_model):
    found = el.explain(TEXT, generate=6, model=tiny_model)
    again = el.explain(found.text, model=tiny_model)
    if [token.id for token in again.tokens] == [token.id for token in found.tokens]:
        np.testing.assert_allclose(found.runs[0].matrix.weights, again.runs[0].matrix.weights, atol=1e-6)
    new = [unit for unit in found.units if unit.tokens[0] >= found.generated.prompt_tokens and unit.text.strip()]
    asked = el.explain(TEXT, new[0].text, nth=1, generate=6, model=tiny_model)
    assert asked.question.token == new[0].text
    np.testing.assert_allclose(asked.runs[0].matrix.weights, found.runs[0].matrix.weights)


@pytest.mark.parametrize("new", [False, True])
def test_vectors_and_steps_of_a_word_are_those_of_the_whole_run(tiny_model, new):
    """Its layers were computed in several passes, of which the last have one token each."""
    units = el.explain(TEXT, generate=6, model=tiny_model).units
    word = next(unit for unit in units if unit.start >= len(TEXT) and unit.text.strip()).text if new else "cat"
    found = el.explain(TEXT, word, nth=1, generate=6, layer=1, head=1, steps=True, special=True, model=tiny_model)
    run = tiny_model.run([[token.id for token in found.tokens]])
    own = [place for unit in found.question.units for place in found.units[unit].tokens]
    vectors = np.stack([state[0, own].mean(axis=0, dtype=float) for state in run.hidden_states])
    want = vectors @ vectors[0] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[0])
    np.testing.assert_allclose(found.moved, want, atol=1e-5)
    steps = found.document()["runs"][0]["steps"]
    np.testing.assert_allclose(steps["output"], run.layers[1].output[0, 1, steps["token"]], atol=1e-5)


def test_new_text_is_said_as_it_comes(tiny_model):
    bits = []
    found = el.explain(TEXT, generate=6, said=bits.append, model=tiny_model)
    assert len(bits) == len(found.generated.steps)
    assert found.text.startswith(TEXT + "".join(bits))


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("asked", [{}, {"token": "cat"}, {"token": "cat", "steps": True}, {"pieces": True}])
def test_lines_fit_any_terminal(tiny_model, width, encoding, asked):
    found = el.explain(TEXT + " 🎉", generate=9, temperature=2.0, seed=5, model=tiny_model, **asked)
    lines = drawn(found, width, encoding).split("\n")
    assert max(map(cell_len, lines)) <= width
    assert sum("looked at" in line for line in lines) >= 1
    assert not set("".join(lines)) & {"\x1b", "\r"}


def test_a_notebook_shows_the_new_tokens_and_nothing_in_it_runs(tiny_model):
    ids = tiny_model.tokens("<script>alert(1)</script>").ids
    found = el.explain("an <b>", generate=len(ids), model=Saying(tiny_model, ids))
    tags = read(found._repr_html_())
    assert tags.tags <= {"div", "bdi", "b", "table", "tr", "td"}
    assert "script" in "".join(tags.words)
    assert found.text == "an <b><script>alert(1)</script>"
    assert "</script>" in drawn(found, 120)


class Saying(Model):
    """The model, but what it generates."""

    def __init__(self, model, ids):
        vars(self).update(vars(model))
        self._ids = ids

    def generation_passes(self, ids, count, choice, **more):
        return super().generation_passes(ids, count, Fixed(self._ids), **more)


class Fixed:
    """Chooses these tokens, whatever the logits say."""

    def __init__(self, ids):
        self._ids = iter(ids)

    def drawer(self):
        return None

    def of(self, logits, drawer):
        return next(self._ids)


def test_json_and_csv_hold_what_is_shown(tiny_model):
    found = el.explain(TEXT, generate=3, model=tiny_model)
    assert json.loads(found.json()) == found.document()
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    for step in found.document()["generated"]["steps"]:
        mine = [row for row in rows if int(row["new_index"]) == step["new"]["token"]]
        looks = [look for look in step["looks_at"] if not look["hidden"]]
        assert [(row["key"], float(row["weight"])) for row in mine] == [(x["text"], x["weight"]) for x in looks]
        assert {float(row["probability"]) for row in mine} == {step["probability"]}


WRONG = [
    ({"generate": 0}, "generate must be a whole number of tokens, 1 or more, got 0"),
    ({"generate": -3}, "1 or more, got -3"),
    ({"generate": 1.5}, "1 or more, got 1.5"),
    ({"generate": True}, "1 or more, got True"),
    (
        {"generate": 200},
        r"generate must be at most 18\d after \d+ tokens, since .* has 200 positions, got 200; ask for",
    ),
    ({"temperature": 1.0}, "temperature must be given with generate; add generate="),
    ({"top_p": 0.5}, "top_p must be given with generate"),
    ({"seed": 1}, "seed must be given with generate"),
    ({"generate": 1, "temperature": -1.0}, "temperature must be a number, 0 or more, got -1.0"),
    ({"generate": 1, "temperature": float("nan")}, "temperature must be a number, 0 or more, got nan"),
    ({"generate": 1, "top_p": 0.5}, "temperature must be above 0 with top_p"),
    ({"generate": 1, "temperature": 1.0, "top_p": 2.0}, "top_p must be a number above 0, at most 1, got 2.0"),
    ({"generate": 2, "token": "nowhere"}, "token must be a word of the text, got 'nowhere', which isn't there"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_wrong_questions_say_what_to_do(tiny_model, wrong, message):
    with pytest.raises(QuestionError, match=message) as caught:
        el.explain(TEXT, model=tiny_model, **wrong)
    assert "\n" not in str(caught.value)


def test_an_encoder_does_not_go_on(say):
    code, out, err = say("explain", "time flies", "--generate", "2")
    assert (code, out) == (2, "")
    assert err == (
        "eyeline: model must be a decoder to go on with a text, got minilm, an encoder (bert); take one such as "
        "--model smollm2\n"
    )


def test_the_command_equals_the_library(tiny_folder, say):
    options = ["--generate", "4", "--temperature", "0.8", "--top-p", "0.9", "--seed", "2"]
    code, out, err = say("explain", TEXT, "--model", str(tiny_folder), *options, "--json")
    assert (code, err) == (0, "")
    found = el.explain(TEXT, generate=4, temperature=0.8, top_p=0.9, seed=2, model=str(tiny_folder))
    assert json.loads(out) == found.document()
    assert say("explain", TEXT, "--model", str(tiny_folder), "--seed", "2")[0] == 2


def test_an_interrupt_leaves_quietly(tiny_folder, say, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyeline.models.continuing.Continuation.add", interrupted)
    assert say("explain", TEXT, "--model", str(tiny_folder), "--generate", "3") == (130, "", "")


def test_a_terminal_shows_new_text_as_it_comes_and_takes_it_away(tiny_folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert cli.main(["explain", TEXT, "--model", str(tiny_folder), "--generate", "3"]) == 0
    err = capsys.readouterr().err
    assert err.endswith("\r\x1b[K")
    assert err.count("\r\x1b[K") == 4
    assert re.search(re.escape(TEXT), err)


def test_paris(capsys):
    assert cli.main(["explain", "The capital of France is", "--model", "smollm2", "--generate", "1"]) == 0
    assert re.search(r"^  Paris +█\S+ +77%  is +is 23%  France 8%", capsys.readouterr().out, re.MULTILINE)

"""`eyeline.explain` and `eyeline.compare` with a decoder: against brute force, and what is set aside and hidden."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_views import drawn, read
from tiny import HEADS, KEY_HEADS, LAYERS, save_decoder

import eyeline as el
from eyeline import reference
from eyeline.answers import QuestionError
from eyeline.models import load
from eyeline.traces import Keep, record_tokens
from eyeline.views.labels import percent

TEXT = "the cat and an owl fly"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return load(save_decoder(tmp_path_factory.mktemp("tiny")))


def by_word(weights, units):
    """Weights (N, N) from unit to unit: summed over keys, averaged over queries."""
    places = [list(unit["tokens"]) for unit in units]
    return np.array([[weights[np.ix_(rows, columns)].sum() / len(rows) for columns in places] for rows in places])


@pytest.mark.parametrize(("layer", "head"), [(None, None), (0, 1), (1, 3), (2, None)])
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("pieces", [False, True])
def test_every_number_is_that_of_the_whole_run(tiny, layer, head, special, pieces):
    found = el.explain(TEXT, layer=layer, head=head, special=special, pieces=pieces, model=tiny).document()
    run = tiny.run([tiny.tokens(TEXT).ids], weights=True)
    weights = run.layers[LAYERS - 1 if layer is None else layer].weights[0].astype(float)
    expected = by_word(weights.mean(axis=0) if head is None else weights[head], found["units"])
    matrix, shown = found["runs"][0]["matrix"], found["shown"]
    np.testing.assert_allclose(matrix["weights"], expected, atol=1e-6)
    kept = expected[np.ix_(shown, shown)]
    np.testing.assert_allclose(matrix["shares"], kept / kept.sum(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_array_equal(matrix["hidden"], np.triu(np.ones_like(kept), 1) > 0)
    assert found["causal"]


@pytest.mark.parametrize("token", ["cat", "owl fly", "the"])
def test_a_token_s_numbers_are_those_of_the_whole_run(tiny, token):
    found = el.explain(TEXT, token, layer=1, model=tiny).document()
    run = tiny.run([tiny.tokens(TEXT).ids], weights=True)
    queries = [place for unit in found["question"]["units"] for place in found["units"][unit]["tokens"]]
    rows = run.layers[1].weights[0][:, queries].mean(axis=1, dtype=float)
    heads = np.array([[row[unit["tokens"]].sum() for unit in found["units"]] for row in rows])
    seen = found["runs"][0]
    np.testing.assert_allclose([entry["weight"] for entry in seen["looks_at"]], heads.mean(axis=0), atol=1e-6)
    words = found["shown"]
    hardest = sorted(range(HEADS), key=lambda number: -heads[number, words].max())[:3]
    assert [entry["head"] for entry in seen["hardest_heads"]] == hardest
    assert [entry["unit"] for entry in seen["hardest_heads"]] == [words[heads[h, words].argmax()] for h in hardest]
    vectors = np.array([state[0, queries].mean(axis=0, dtype=float) for state in run.hidden_states])
    cosines = vectors @ vectors[0] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[0])
    np.testing.assert_allclose([entry["cosine"] for entry in seen["moved"]], cosines, atol=1e-5)


@pytest.mark.parametrize("head", range(HEADS))
def test_steps_take_the_keys_that_the_head_shares(tiny, head):
    found = el.explain(TEXT, "and", layer=1, head=head, steps=True, model=tiny)
    layer = tiny.run([tiny.tokens(TEXT).ids]).layers[1]
    group = head // (HEADS // KEY_HEADS)
    whole = reference.steps(layer.q[0, head], layer.k[0, group], layer.v[0, group], mask=el.Causal())
    steps = found.document()["runs"][0]["steps"]
    row = steps["token"]
    assert steps["key_head"] == group
    np.testing.assert_allclose([key["score"] for key in steps["keys"]], whole.scores[row], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose([key["weight"] for key in steps["keys"]], whole.weights[row], atol=1e-6)
    np.testing.assert_allclose(steps["output"], layer.output[0, head, row], atol=1e-5)
    assert [key["hidden"] for key in steps["keys"]] == [place > row for place in range(len(steps["keys"]))]


def test_vectors_are_kept_of_the_tokens_that_were_asked_for(tiny):
    tokens = tiny.tokens(TEXT)
    run = tiny.run([tokens.ids])
    for asked, places in (([2, 5], [2, 5]), ("all", range(len(tokens)))):
        trace = record_tokens(tiny, tokens, keep=Keep(vectors=asked))
        assert trace.vector_tokens == tuple(places)
        np.testing.assert_array_equal(trace.vectors, np.stack([state[0, list(places)] for state in run.hidden_states]))
    trace = record_tokens(tiny, tokens, keep=Keep(values=False))
    assert trace.vectors is None
    assert not trace.has_values


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: el.explain(TEXT, "cat", layer=0, steps=True, model=model),
        lambda model: el.explain(TEXT, mask=el.Window(1), model=model),
        lambda model: el.compare(TEXT, "a cat fly", "cat", model=model),
        lambda model: el.rollout(TEXT, model=model),
        lambda model: el.heads(TEXT, model=model),
    ],
    ids=["a token", "all", "compare", "rollout", "heads"],
)
def test_no_layer_is_asked_for_its_weights(tiny, monkeypatch, ask):
    """A model keeps queries, keys and lse; of a head's weights, only what is shown is computed from them."""
    asked, layers = [], tiny.layers

    def watched(*given, read=(), **options):
        asked.append([type(one) for one in read])
        return layers(*given, read=read, **options)

    monkeypatch.setattr(tiny, "layers", watched)
    ask(tiny)
    assert asked
    assert not any(el.Weights in read for read in asked)


def test_the_first_word_is_set_aside_and_said(tiny):
    found = el.explain(TEXT, "owl", model=tiny)
    assert found.words == ["cat", "and", "an", "owl", "fly"]
    first = percent(found.runs[0].weights[0])
    text = " ".join(str(found).split())
    assert re.search(rf"the \(the first\) \S* ?{first} ", text)
    assert f"the, the first token, took {first}." in text
    assert first in " ".join(read(found._repr_html_()).words)
    back = el.explain(TEXT, "owl", special=True, model=tiny)
    assert back.words[0] == "the"
    assert "the first token, took" not in str(back)
    np.testing.assert_allclose(back.shares, back.weights, atol=1e-6)


def test_the_first_word_stays_where_it_is_asked_about_or_alone(tiny):
    asked = el.explain(TEXT, "the", model=tiny)
    assert asked.words[0] == "the"
    assert asked.shares.tolist() == [1, 0, 0, 0, 0, 0]
    assert "the takes most from itself (100%)." in str(asked)
    assert el.explain("cat", model=tiny).words == ["cat"]
    assert el.explain("cat and", pieces=True, model=tiny).words[0] == "a"
    # What is first is a bare space here, and set aside as such.
    assert el.explain("  cat and", model=tiny).words == ["cat", "and"]


def test_what_may_not_be_looked_at_is_a_dash_and_never_nothing(tiny):
    text = str(el.explain(TEXT, "and", model=tiny))
    assert len(re.findall(r"^  (?:an|owl|fly) .* –$", text, re.MULTILINE)) == 3
    whole = el.explain(TEXT, model=tiny)
    lines = [line for line in drawn(whole, 120).split("\n") if re.match(r"^  \d ", line)]
    assert [line.count("–") for line in lines] == [4, 3, 2, 1, 0]
    narrow = [line for line in drawn(whole, 30).split("\n") if re.match(r"^  \d ", line)]
    assert [line.count("–") for line in narrow] == [4, 3, 2, 1, 0]
    assert "–" in read(whole._repr_html_()).words
    sides = el.compare("the cat and", "the cat or", "cat", model=tiny)
    assert len(re.findall(" –", str(sides))) == 2


def test_a_window_of_the_model_s_own_is_hidden_too(tmp_path):
    model = load(save_decoder(tmp_path, model_type="mistral", sliding_window=2))
    hidden = el.explain("abcd", pieces=True, special=True, model=model).document()["runs"][0]["matrix"]["hidden"]
    i, j = np.arange(4)[:, None], np.arange(4)
    np.testing.assert_array_equal(hidden, (j > i) | (j < i - 1))


def test_a_causal_mask_changes_nothing_and_it_is_said(tiny):
    found = el.explain(TEXT, "owl", mask="causal", model=tiny)
    assert len(found.runs) == 1
    assert "never looks ahead: a causal mask changes nothing." in " ".join(str(found).split())
    assert "never looks ahead: a causal mask changes nothing." in found._repr_html_()
    assert found.document()["question"]["mask"] == "causal"
    both = el.explain(TEXT, "owl", mask="causal", scale=1.0, model=tiny)
    assert [run.name for run in both.runs] == ["as trained", "without ÷ √d"]


def test_other_masks_join_with_looking_back(tiny):
    found = el.explain("abcdef", "abcdef", pieces=True, special=True, mask=el.Window(1), model=tiny)
    run = found.document()["runs"][1]
    i, j = np.arange(6)[:, None], np.arange(6)
    np.testing.assert_array_equal(run["matrix"]["hidden"], (j > i) | (j < i - 1))
    assert (np.array(run["matrix"]["weights"])[(j > i) | (j < i - 1)] == 0).all()


def test_each_side_of_a_comparison_is_what_explain_says(tiny):
    texts = (TEXT, "a cat fly")
    found = el.compare(*texts, "cat", layer=1, model=tiny)
    for side, text in zip(found.document()["sides"], texts, strict=True):
        alone = el.explain(text, "cat", layer=1, model=tiny).document()
        assert side["looks_at"] == alone["runs"][0]["looks_at"]
        assert side["shown"] == alone["shown"]


def test_a_word_that_is_set_aside_is_inert_in_a_notebook(tiny):
    for asked in (None, "cat"):
        tags = read(el.explain("<img> cat and", asked, pieces=asked is None, model=tiny)._repr_html_())
        assert tags.tags <= {"div", "bdi", "b", "table", "tr", "td", "pre"}
        assert "<" in "".join(tags.words)


def test_too_many_tokens_are_named(tiny):
    with pytest.raises(QuestionError, match=r"text must fit the 200 positions of .*, got 300 tokens"):
        el.explain("é" * 150, model=tiny)


@pytest.fixture(scope="module")
def smollm2():
    return load("smollm2")


def test_mary_is_said_by_a_token_that_looks_at_the_other_name(smollm2):
    text = "When Mary and John went to the store, John gave a drink to"
    found = el.explain(text, generate=1, layer=19, head=2, model=smollm2)
    (step,) = found.document()["generated"]["steps"]
    assert (step["new"]["text"], step["by"]["text"]) == ("Mary", "to")
    shares = {look["unit"]: look["share"] for look in step["looks_at"] if look["share"] is not None}
    assert found.units[max(shares, key=shares.get)].text == "John"

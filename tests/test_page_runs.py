"""The page's requests that run a text again: with edits, what these change, what comes next, and effects."""

from __future__ import annotations

import time

import numpy as np
import pages
import pytest

import eyeline as el
from eyeline import edits as ed
from eyeline.answers.changed_looks import largest, moved
from eyeline.answers.next_words import NextWords
from eyeline.models import load
from eyeline.serving import Session, kept_of
from eyeline.traces import record_text, text_model
from eyeline.views.page import Page
from eyeline.views.page.requests.request import RequestError

FLIES = "time flies like an arrow"


def page_of(text, name="minilm"):
    model = text_model(load(name))
    read = model.read(text)
    return Page([record_text(model, read, keep=kept_of(len(read.tokens)))], models={name: model})


@pytest.fixture
def flies():
    return page_of(FLIES)


@pytest.fixture
def france():
    return page_of("The capital of France is", "smollm2")


def ask(page, kind, **request):
    reply, arrays = page.answer({"id": 1, "kind": kind, **request})
    assert (reply["id"], reply["kind"]) == (1, kind)
    return reply, arrays


def edited(page, *edits, known=1):
    return ask(page, "edited", trace=0, edits=list(edits), known=known)[0]


def test_a_run_with_edits_is_one_more_trace_and_is_made_once(flies):
    assert flies.header()["can"]["edit"] == ["minilm"]
    reply = edited(flies, "gate L5H3 0", "cut L3H1 #2>#1")
    assert (reply["made"], len(flies.traces)) == (1, 2)
    (entry,) = reply["entries"]
    assert entry == flies.header()["traces"][1]
    assert entry["edits"] == ["gate L5H3 0", "cut L3H1 #2>#1"]
    assert flies.header()["traces"][0]["edits"] == []
    same = [ed.Gate(layer=5, head=3), ed.Cut(layer=3, head=1, queries=[2], keys=[1])]
    assert np.array_equal(flies.traces[1].vectors, el.record(FLIES, edits=same, keep=["vectors"]).vectors)
    again = edited(flies, "gate L5H3 0", "cut L3H1 #2>#1", known=2)
    assert (again["made"], again["entries"], len(flies.traces)) == (1, [], 2)


def weights_of(page, trace, layer, head):
    """A head's weights as the page computes them from what it is sent."""
    reply, sent = ask(page, "head", trace=trace, layer=layer, head=head)
    found = dict(zip(reply["arrays"], sent, strict=True))
    N, M, D = (reply["shape"][name] for name in "NMD")
    q, k = (np.frombuffer(found[name], "<f4").reshape(-1, D) for name in "qk")
    w = np.exp(page.traces[trace].layers[layer].scale * (q @ k.T) - np.frombuffer(found["lse"], "<f4")[:, None])
    if "bounds" in found:
        bounds, j = np.frombuffer(found["bounds"], "<i4").reshape(reply["mask_shape"]), np.arange(M)
        w = w * ((bounds[..., 0, None] <= j) & (j < bounds[..., 1, None])).any(axis=1)
    return w * np.frombuffer(found["factors"], "<f4").reshape(N, M) if "factors" in found else w


@pytest.mark.parametrize(
    "words", ["cut L3H1 #2>#1", "reweight L3H1 #2>#1 0.5", "uniform L3H1", "cut L3 #1-2>#0", "gate L3H1 0"]
)
def test_a_head_is_sent_so_that_its_edited_weights_come_out(flies, words):
    edited(flies, words)
    for head in (0, 1):
        own = flies.traces[1].weights(3, head)
        np.testing.assert_allclose(weights_of(flies, 1, 3, head), own, atol=2e-6)
    changed = np.abs(flies.traces[1].weights(3, 1) - flies.traces[0].weights(3, 1)).max()
    assert (changed > 0.01) == (not words.startswith("gate"))


def test_what_is_no_edit_is_refused_in_words(flies):
    for edits, said in [
        ([], "a list of 1 to 64"),
        ("cut", "a list of 1 to 64"),
        ([3], "words of at most 400"),
        (["gate L9H3 0"], "layer must be from 0 to 5"),
        (["grate L1"], "one of cut, reweight"),
        (["mean L1"], "means must be given"),
        (["cut L1H1 flies>nothing"], "nothing"),
    ]:
        with pytest.raises(RequestError, match=said) as refused:
            ask(flies, "edited", trace=0, edits=edits, known=1)
        assert refused.value.argument == "edits"
    assert len(flies.traces) == 1


def test_a_trace_without_a_model_here_is_refused():
    page = Page([pages.trace()])
    assert page.header()["can"]["edit"] == []
    with pytest.raises(RequestError, match="by a model that is here"):
        ask(page, "edited", trace=0, edits=["gate L0H0 0"], known=1)


def test_the_heads_that_look_elsewhere_are_those_whose_rows_moved(flies):
    edited(flies, "cut L3H1 #2>#1")
    before, after = flies.traces
    reply, _ = ask(flies, "changes", trace=0, other=1)
    assert reply["rows"] == [0, 7]
    dense = np.array(
        [
            [0.5 * np.abs(after.weights(layer, head) - before.weights(layer, head)).sum(axis=1) for head in range(12)]
            for layer in range(6)
        ]
    )
    np.testing.assert_allclose(moved(before, after), dense, atol=1e-5)
    layer, head, query, share = reply["looks"][0]
    assert (layer, head, query) == (3, 1, 2)
    assert share == pytest.approx(
        float(before.weights(3, 1)[2, 1]), abs=1e-3
    )  # the weight that was cut lies elsewhere now
    assert reply["turned"] == int((dense.max(axis=2) > 0.005).sum())
    assert [one[3] for one in reply["looks"]] == sorted((one[3] for one in reply["looks"]), reverse=True)
    one, other = before.vectors[-1].astype(float), after.vectors[-1].astype(float)
    cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    np.testing.assert_allclose(reply["vectors"], 1 - cosines, atol=1e-6)
    (row,) = {tuple(look[2:3]) for look in ask(flies, "changes", trace=0, other=1, token=4, last=5)[0]["looks"]}
    assert row == (4,)


def test_runs_of_different_texts_are_not_compared(flies):
    flies.add(page_of("time flies").traces[0])
    with pytest.raises(RequestError, match="same tokens"):
        ask(flies, "changes", trace=0, other=1)
    assert largest(np.zeros((2, 3, 4)), 5) == []


def test_next_words_of_two_runs_stand_side_by_side(france):
    made = edited(france, "gate L0 0")["made"]
    reply, _ = ask(france, "next", sides=[{"trace": 0, "written": []}, {"trace": made, "written": []}])
    first, second = (side["words"] for side in reply["sides"])
    assert first[0][1] == " Paris"
    assert first[0][2] == pytest.approx(0.7727, abs=1e-3)
    assert {word[0] for word in first} == {word[0] for word in second}
    model = load("smollm2")
    state = model.run([model.tokens("The capital of France is").ids], edits=[ed.Gate(layer=0)]).hidden_states[-1]
    logits = model.logits(state[0, -1]).astype(float)
    chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    for id, _, probability in second:
        assert probability == pytest.approx(chances[id], rel=1e-3)


def test_going_on_step_by_step_says_what_generation_says(france):
    model = load("smollm2")
    steps = list(model.generate(model.tokens("The capital of France is").ids, 4))
    written = []
    for step in steps:
        words = ask(france, "next", sides=[{"trace": 0, "written": written}])[0]["sides"][0]["words"]
        assert words[0][0] == step.id
        assert words[0][2] == pytest.approx(step.probability, rel=1e-4)
        written.append(words[0][0])
    back = ask(france, "next", sides=[{"trace": 0, "written": written[:1]}])[0]["sides"][0]["words"]
    assert back[0][0] == steps[1].id


def test_bad_texts_to_go_on_with_are_refused(france, flies):
    for sides, said in [
        ([], "1 to 4"),
        ([3], "objects"),
        ([{"trace": 0, "written": "a"}], "at most 256"),
        ([{"trace": 0, "written": [10**9]}], "from 0 to"),
        ([{"trace": 1}], "from 0 to 0"),
    ]:
        with pytest.raises(RequestError, match=said):
            ask(france, "next", sides=sides)
    with pytest.raises(RequestError, match="a decoder"):
        ask(flies, "next", sides=[{"trace": 0}])


def test_next_words_have_the_probabilities_of_the_model():
    model = load("smollm2")
    said = NextWords(model, model.tokens("1 2 3 4"))
    assert sum(word.probability for word in said.likeliest(model.config.vocabulary_size)[:50]) < 1
    assert said.word(said.likeliest(1)[0].id) == said.likeliest(1)[0]


def effects(page, **request):
    for _ in range(400):
        reply, arrays = ask(page, "effects", trace=0, **request)
        if reply["over"]:
            return reply, arrays
        assert 0 <= reply["done"] <= (reply["count"] or 72)
    raise AssertionError(reply)


def test_effects_are_those_of_the_library(flies):
    reply, (heads, looks) = effects(flies, token=2)
    found = el.effects(FLIES, token="flies", edges=0)
    np.testing.assert_allclose(np.frombuffer(heads, "<f4").reshape(reply["shape"]), found.heads, atol=1e-6)
    np.testing.assert_allclose(np.frombuffer(looks, "<f4").reshape(reply["shape"]), found.looks, atol=1e-6)
    assert (reply["measure"], reply["by"], reply["complete"]) == ("token cosine", "zero", True)
    assert effects(flies)[0]["measure"] == "text cosine"


def test_effects_of_the_second_of_two_equal_words():
    page = page_of("the cat saw the dog")
    _, (heads, _) = effects(page, token=4)
    found = el.effects("the cat saw the dog", token="the", nth=2, edges=0)
    np.testing.assert_allclose(np.frombuffer(heads, "<f4"), found.heads.ravel(), atol=1e-6)


def test_effects_can_be_stopped_and_asked_for_again(france, monkeypatch):
    from eyeline.answers.mattering import own_run

    slow = own_run.OwnRun.of_heads
    monkeypatch.setattr(own_run.OwnRun, "of_heads", lambda *given: (time.sleep(0.2), slow(*given))[1])
    reply, _ = ask(france, "effects", trace=0)
    while not reply["over"] and not reply["done"]:
        reply, _ = ask(france, "effects", trace=0)
    reply, (heads, _) = ask(france, "effects", trace=0, stop=True)
    assert (reply["over"], reply["complete"]) == (True, False)
    known = ~np.isnan(np.frombuffer(heads, "<f4").reshape(reply["shape"]))
    assert known.any()
    assert not known.all()
    monkeypatch.setattr(own_run.OwnRun, "of_heads", slow)
    reply, (heads, _) = effects(france)
    assert reply["complete"]
    assert reply["next"] == " Paris"
    assert not np.isnan(np.frombuffer(heads, "<f4")).any()


def test_an_edited_run_makes_room_as_a_text_does(flies):
    session = Session(flies, ["minilm"], kept=1)
    session.answer({"id": 1, "kind": "edited", "trace": 0, "edits": ["gate L0H0 0"], "known": 1})
    assert flies.traces[0].layers[0].q.shape[1] == 0
    assert flies.traces[1].layers[0].q.shape[1] == 7

"""Effects against whole runs with the same edits, one by one; and questions that can't be asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eyeline as el
from eyeline import edits as ed
from eyeline.answers import QuestionError
from eyeline.answers.mattering import effects_by_layer, own_run
from eyeline.answers.mattering.agreement import rank_correlation
from eyeline.models import load
from eyeline.traces import Cancelled, text_model

FLIES = "time flies like an arrow"
FRANCE = "The capital of France is"


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module")
def smollm2():
    return load("smollm2")


@pytest.fixture(scope="module")
def tiny(tiny_folder):
    return load(str(tiny_folder))


def log_probabilities(model, text, edits=()):
    """Of the next token, from a whole run."""
    run = model.run([model.tokens(text).ids], edits=edits)
    z = model.logits(run.hidden_states[-1][0, -1]).astype(np.float64)
    return z - z.max() - np.log(np.exp(z - z.max()).sum())


def vector(model, text, rows, edits=()):
    """The mean of some tokens' last vectors, from a whole run."""
    return model.run([model.tokens(text).ids], edits=edits).hidden_states[-1][0, rows].astype(np.float64).mean(axis=0)


def fallen(a, b):
    return 1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)


CUTS = {"zero": ed.Gate, "uniform": ed.Uniform}


@pytest.mark.parametrize("by", CUTS)
def test_every_head_of_an_encoder_is_a_whole_run_with_that_edit(minilm, by):
    found = el.effects(FLIES, token="flies", model=minilm, by=by, edges=0)
    base = vector(minilm, FLIES, [2])
    whole = [
        [fallen(base, vector(minilm, FLIES, [2], CUTS[by](layer=layer, head=head))) for head in range(12)]
        for layer in range(6)
    ]
    np.testing.assert_allclose(found.heads, whole, atol=1e-5)
    assert (found.measure, found.base, found.complete) == ("token cosine", 1.0, True)
    assert found.heads.max() > 0.02


@pytest.mark.parametrize("by", CUTS)
def test_every_head_of_a_decoder_is_a_whole_run_with_that_edit(tiny, by):
    text = "the cat of the arrow"
    found = el.effects(text, next=" f", rather=" a", model=tiny, by=by, edges=0)
    first, rival = (tiny.tokens(text + word).ids[-1] for word in (" f", " a"))

    def measure(edits=()):
        values = log_probabilities(tiny, text, edits)
        return values[first] - values[rival]

    whole = [[measure() - measure(CUTS[by](layer=layer, head=head)) for head in range(4)] for layer in range(3)]
    np.testing.assert_allclose(found.heads, whole, atol=1e-5)
    assert found.base == pytest.approx(measure(), abs=1e-5)
    assert (found.measure, found.question.next.id, found.question.rather.id) == ("difference", first, rival)
    assert np.ptp(found.heads) > 0.01


def test_by_the_mean_of_other_texts(tiny, minilm):
    over = ["fruit flies like a banana", "the old man the boat"]
    means = el.mean_outputs(over, model=minilm)
    found = el.effects(FLIES, token="flies", model=minilm, by="mean", over=over, edges=0)
    assert np.array_equal(found.heads, el.effects(FLIES, token="flies", by="mean", over=means, edges=0).heads)
    assert found.question.over_tokens == means.tokens == 14
    base = vector(minilm, FLIES, [2])
    for layer, head in ((0, 4), (3, 3), (5, 11)):
        cut = vector(minilm, FLIES, [2], ed.MeanOutput(means, layer=layer, head=head))
        assert found.heads[layer, head] == pytest.approx(fallen(base, cut), abs=1e-5)
    assert f"its mean output over {means.tokens} tokens of other texts" in " ".join(str(found).split())
    with pytest.raises(ValueError, match="means must be of this model"):
        el.effects("the cat", model=tiny, by="mean", over=means)


def test_some_heads_of_smollm2_are_whole_runs_with_that_edit(smollm2):
    found = el.effects(FRANCE, next=" Paris", model=smollm2, edges=8)
    paris = smollm2.tokens(" Paris").ids[0]
    base = log_probabilities(smollm2, FRANCE)[paris]
    assert found.base == pytest.approx(base, abs=1e-5)
    assert found.ordered[0] == (23, 4)
    for layer, head in [*found.ordered[:4], (29, 0), (0, 8)]:
        cut = log_probabilities(smollm2, FRANCE, ed.Gate(layer=layer, head=head))[paris]
        assert found.heads[layer, head] == pytest.approx(base - cut, abs=1e-5)
    for edge in found.edges:
        cut = ed.Cut(layer=edge.layer, head=edge.head, queries=[edge.query], keys=[edge.key])
        assert edge.effect == pytest.approx(base - log_probabilities(smollm2, FRANCE, cut)[paris], abs=1e-5)
    assert found.edges[0].effect > 1
    assert [found.tokens[place].text for place in (found.edges[0].query, found.edges[0].key)] == [" is", " France"]


def test_edges_are_whole_runs_with_that_cut(minilm):
    found = el.effects(FLIES, token="flies", model=minilm, edges=40)
    base = vector(minilm, FLIES, [2])
    assert len(found.edges) > 20
    assert len({(edge.layer, edge.head) for edge in found.edges}) == 8
    assert all(edge.query == 2 for edge in found.edges if edge.layer == 5)
    for edge in found.edges:
        cut = ed.Cut(layer=edge.layer, head=edge.head, queries=[edge.query], keys=[edge.key])
        assert edge.effect == pytest.approx(fallen(base, vector(minilm, FLIES, [2], cut)), abs=1e-5)
        weights = found.trace.layers[edge.layer].weights
        assert edge.weight == pytest.approx(weights[edge.head, edge.query, edge.key], abs=1e-6)
    sizes = [abs(edge.effect) for edge in found.edges]
    assert sizes == sorted(sizes, reverse=True)


def test_what_attention_says_is_the_strongest_look_and_what_it_passes_on(minilm):
    found = el.effects(FLIES, token="flies", model=minilm, edges=0)
    for layer, head in np.ndindex(6, 12):
        weights = found.trace.layers[layer].weights[head, 2].astype(np.float64)
        block = minilm.network.blocks[layer]
        W_o = np.split(block.attended.parts[0].whole, 12, axis=1)[head].astype(np.float64)
        lengths = np.linalg.norm(found.trace.layers[layer].v[head] @ W_o.T, axis=-1)
        assert found.looks[layer, head] == pytest.approx(weights.max(), abs=1e-6)
        assert found.passed[layer, head] == pytest.approx((weights * lengths).max(), rel=1e-5)


def test_the_texts_vector_is_that_of_embed(minilm):
    found = el.effects(FLIES, embed=True, model=minilm, edges=0)
    assert found.measure == "text cosine"
    assert np.array_equal(found.heads, el.effects(FLIES, model=minilm, edges=0).heads)
    base, cut = vector(minilm, FLIES, range(7)), vector(minilm, FLIES, range(7), ed.Gate(layer=2, head=3))
    assert found.heads[2, 3] == pytest.approx(fallen(base, cut), abs=1e-5)
    (embedded,) = el.embed([FLIES], minilm)
    assert base @ embedded / np.linalg.norm(base) == pytest.approx(1, abs=1e-6)


def test_a_word_of_several_pieces_is_the_mean_of_them(minilm):
    text = "unbelievable flies"
    found = el.effects(text, token="unbelievable", model=minilm, edges=0)
    rows = list(found.units[found.question.units[0]].tokens)
    base, cut = vector(minilm, text, rows), vector(minilm, text, rows, ed.Gate(layer=5, head=0))
    assert len(rows) > 0
    assert found.heads[5, 0] == pytest.approx(fallen(base, cut), abs=1e-5)


def test_edits_of_the_run_itself_stay(tiny):
    text, own = "the cat", [ed.Gate(layer=0, head=1), ed.Cut(layer=1, head=2, queries=["cat"], keys=["the"])]
    found = el.effects(text, next=" a", model=tiny, edits=own, edges=4)
    found_own = [own[0], ed.Cut(layer=1, head=2, queries=list(range(1, len(found.tokens))), keys=[0])]
    id = found.question.next.id
    base = log_probabilities(tiny, text, found_own)[id]
    assert found.base == pytest.approx(base, abs=1e-5)
    assert found.base != pytest.approx(el.effects(text, next=" a", model=tiny, edges=0).base, abs=1e-4)
    for layer, head in ((0, 0), (1, 2), (2, 3)):
        whole = log_probabilities(tiny, text, [*found_own, ed.Gate(layer=layer, head=head)])[id]
        assert found.heads[layer, head] == pytest.approx(base - whole, abs=1e-5)
    assert found.heads[0, 1] == 0
    assert found.question.edits[0] == "gate L0H1 0"
    weights = found.trace.layers[1].weights[2, -1]
    assert weights[0] == 0


def test_batches_change_nothing(tiny, minilm, monkeypatch):
    asked = [("the cat of the arrow", {"next": " f", "model": tiny}), (FLIES, {"token": "flies", "model": minilm})]
    before = [el.effects(text, **question) for text, question in asked]
    monkeypatch.setattr(own_run, "TOGETHER", 1)
    for (text, question), whole in zip(asked, before, strict=True):
        split = el.effects(text, **question)
        assert np.array_equal(split.heads, whole.heads)
        assert split.edges == whole.edges


def test_layer_by_layer_they_are_the_same(tiny):
    whole = el.effects("the cat", next=" a", model=tiny, edges=0).heads
    layers = dict(effects_by_layer(text_model(tiny), "the cat", next=" a"))
    assert list(layers) == [2, 1, 0]
    assert np.array_equal(np.stack([layers[layer] for layer in range(3)]), whole)


@pytest.mark.parametrize("text", ["a", "!", "é", "東"])
def test_one_token(tiny, minilm, text):
    found = el.effects(text, model=tiny)
    assert np.isfinite(found.heads).all()
    assert found.question.next.given is None
    found = el.effects(text, model=minilm)
    assert np.isfinite(found.heads).all()
    assert (found.heads >= 0).all()


def test_the_next_token_is_the_likeliest_if_none_is_named(smollm2):
    found = el.effects(FRANCE, model=smollm2, edges=0, cancelled=iter([False, True]).__next__)
    assert (found.question.next.text, found.question.next.given) == (" Paris", None)
    assert found.question.next.probability == pytest.approx(np.exp(found.base), abs=1e-6)
    assert found.notes == ("No next token was named: ' Paris' is measured, the likeliest.",)


def test_of_several_tokens_the_first_is_taken_and_a_missing_space_is_told(smollm2):
    stop = iter([False, True, False, True])
    found = el.effects(FRANCE, next=" Hanoi", model=smollm2, edges=0, cancelled=stop.__next__)
    assert found.question.next.text == " H"
    assert found.notes == ("next=' Hanoi' is several tokens: the first, ' H', is measured.",)
    found = el.effects(FRANCE, next="Paris", model=smollm2, edges=0, cancelled=stop.__next__)
    assert found.question.next.text == "Paris"
    assert found.notes[0].startswith("'Paris' has no space before it; ' Paris' is likelier here (77.3% instead of")


def test_what_is_done_is_kept(tiny):
    stop = iter([False, False, True])
    found = el.effects("the cat", model=tiny, cancelled=stop.__next__)
    whole = el.effects("the cat", model=tiny, edges=0)
    assert (found.complete, whole.complete) == (False, True)
    assert np.isnan(found.heads[0]).all()
    assert np.array_equal(found.heads[1:], whole.heads[1:])
    assert found.edges == ()
    assert found.document()["heads"][0] == [None] * 4
    assert [one.count for one in found.agreement] == [8, 8]
    assert "Stopped: 8 of 12 heads were cut, from the last layer back." in str(found)
    with pytest.raises(Cancelled):
        el.effects("the cat", model=tiny, cancelled=lambda: True)


def test_control_c_keeps_what_is_done(tiny):
    def pressed(done, count):
        assert count == 12
        if done == 8:
            raise KeyboardInterrupt

    found = el.effects("the cat", model=tiny, heads_done=pressed)
    assert (found.complete, int(found.measured.sum())) == (False, 8)


def test_looks_that_were_cut_before_it_stopped_are_kept(tiny):
    stop = iter([False] * 4 + [True])
    found = el.effects("the cat of the arrow", model=tiny, cancelled=stop.__next__)
    assert not found.complete
    assert found.edges
    assert {edge.layer for edge in found.edges} == {2}
    assert f"Stopped: all 12 heads were cut, and {len(found.edges)} looks." in str(found)


def test_rank_correlation():
    assert rank_correlation(np.array([1, 2, 3]), np.array([5.0, 6, 70])) == (1.0, 3)
    assert rank_correlation(np.array([1, 2, 3]), np.array([3, 2, 1])) == (-1.0, 3)
    assert rank_correlation(np.array([1, 1, 2]), np.array([1, 2, 3]))[0] == pytest.approx(np.sqrt(3) / 2)
    assert rank_correlation(np.array([1, np.nan, 2, 5, 5]), np.array([1, 2, 2, 2, 2])) == (
        pytest.approx(np.sqrt(2 / 3)),
        4,
    )
    assert rank_correlation(np.array([1, 1, 1]), np.array([1, 2, 3])) == (None, 3)
    assert rank_correlation(np.array([1, 2]), np.array([1, 2])) == (None, 2)


def test_the_agreements_are_of_sizes(minilm):
    found = el.effects(FLIES, token="flies", model=minilm)
    by_name = {(one.over, one.of): one for one in found.agreement}
    assert list(by_name) == [("heads", "weight"), ("heads", "passed"), ("edges", "weight"), ("edges", "passed")]
    # The lesson: in this sentence what is passed on tells what matters, and the weight alone the opposite.
    assert by_name["heads", "weight"].rank_correlation == pytest.approx(-0.637, abs=0.02)
    assert by_name["heads", "passed"].rank_correlation == pytest.approx(0.809, abs=0.02)
    assert by_name["heads", "passed"].count == 72


def test_as_json_and_as_csv(tiny):
    found = el.effects("the cat", next=" a", model=tiny, edges=5)
    document = json.loads(found.json())
    assert document["schema"] == "eyeline.effects/1"
    assert np.allclose(document["heads"], found.heads, rtol=1e-6)
    assert (document["complete"], document["measure"], document["first_order"]) == (True, "log-probability", None)
    assert "trace" not in document
    lines = found.to_csv().splitlines()
    assert lines[0].startswith(
        "cut,layer,head,query_index,query,key_index,key,effect,weight,passed,first_order,measure"
    )
    assert len(lines) == 1 + 12 + len(found.edges)
    assert sum(line.startswith("look,") for line in lines) == len(found.edges)
    frame = found.frame()
    assert list(frame.columns) == ["layer", "head", "effect", "weight", "passed"]
    assert len(frame) == 12


WRONG = {
    "next must be left out with the encoder minilm": {"next": " a"},
    "token must be a word of the text, got 'zebra'": {"token": "zebra"},
    "token and embed can't both be given": {"token": "time", "embed": True},
    "token must be given with nth": {"nth": 1},
    "over must be given with by='mean'": {"by": "mean"},
    "over must come with by='mean', got by='zero'": {"over": ["a"]},
    "over must be a list of texts": {"by": "mean", "over": "a text"},
    "by must be one of 'zero', 'mean', 'uniform', got 'nothing'": {"by": "nothing"},
    "edges must be a whole number, 0 or more, got -1": {"edges": -1},
    "edges must be a whole number, 0 or more, got True": {"edges": True},
    "first_order must be left out with the encoder": {"first_order": True},
    "first_order must come with by='zero', got by='uniform'": {"first_order": True, "by": "uniform"},
    "layer must be from 0 to 5, got 6": {"edits": ed.Gate(layer=6)},
    "queries must be a word of the text, got 'zebra'": {"edits": ed.Cut(queries=["zebra"])},
    "edits must replace a head's weights once": {"edits": ed.Uniform(layer=0, head=0), "by": "uniform"},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_asked_of_an_encoder(minilm, message):
    with pytest.raises(ValueError, match=f"^{message.replace('(', '.')}"):
        el.effects(FLIES, model=minilm, **WRONG[message])


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("token must be left out with the decoder", {"token": "cat"}),
        ("embed must be left out with the decoder", {"embed": True}),
        ("next must be given with rather", {"rather": " a"}),
        ("rather must be another token than next, got ' a' for both", {"next": " a", "rather": " an"}),
        ("next must be what comes next, such as ' Paris', got ''", {"next": ""}),
        ("rather must be what comes next, such as ' Paris', got 3", {"next": " a", "rather": 3}),
    ],
)
def test_what_cannot_be_asked_of_a_decoder(tiny, message, question):
    with pytest.raises(QuestionError, match=f"^{message}"):
        el.effects("the cat", model=tiny, **question)


def test_texts_and_models_that_cannot_be_asked(tiny, minilm):
    with pytest.raises(QuestionError, match="text must fit the 200 positions"):
        el.effects("a " * 300, model=tiny)
    with pytest.raises(QuestionError, match="text must have at most the 256 tokens that minilm embeds, got 402"):
        el.effects("a " * 400, model=minilm)
    with pytest.raises(QuestionError, match="text must have at least one word"):
        el.effects("  ", model=minilm)
    with pytest.raises(QuestionError, match=r"'flies', which is there 2 times: 1 is .*say which with nth=1 or 2"):
        el.effects("flies flies", token="flies", model=minilm)
    with pytest.raises(QuestionError, match="got the encoder-decoder dates; take one such as minilm or smollm2"):
        el.effects("3rd of March, 2021", model="dates")

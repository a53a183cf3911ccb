"""Recording edited models of transformers: words as positions, and traces that keep their edits; real models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from eager_edits import ByHand, by_hand, with_heads
from edit_models import bart, inputs_of, vit, with_sharp_heads
from hugging import bert, llama, one_thread, text  # noqa: F401 - one_thread, for all tests here
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

import eyeline as el
from eyeline import edits as ed
from eyeline.edits import EditError
from eyeline.models import load
from eyeline.traces import text_model

FLIES = "time flies like an arrow"


@pytest.fixture(scope="module")
def minilm():
    return AutoModel.from_pretrained(load("minilm").source, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def smollm2():
    return AutoModelForCausalLM.from_pretrained(load("smollm2").source, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def words():
    return AutoTokenizer.from_pretrained(load("minilm").source)


@pytest.fixture(scope="module")
def pieces():
    return AutoTokenizer.from_pretrained(load("smollm2").source)


def changes(other, v):
    return [
        ed.Cut(layer=0, head=[3, 5], queries=["flies"], keys=["time"]),
        ed.Uniform(layer=1, head=1),
        ed.Reweight(layer=2, head=0, queries=["arrow"], keys=[0, "an"], by=0.25),
        ed.Pattern(other, layer=3, head=4, queries=slice(3)),
        ed.Patch(v, "v", layer=3, head=2, positions=[1, 2]),
        ed.Gate(layer=4, head=2, by=0.0),
    ]


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_a_recorded_model_is_edited_as_our_own(name, minilm, smollm2, words, pieces):
    twin, tokenizer = (minilm, words) if name == "minilm" else (smollm2, pieces)
    other = el.record("bananas swim in the cold sea", model=name)
    edits = changes(other, other)
    own = el.record(FLIES, model=name, edits=edits)
    (got,) = el.record(FLIES, model=twin, tokenizer=tokenizer, edits=edits)
    assert got.name == own.name
    assert [repr(one) for one in got.edits] == [repr(one) for one in own.edits]
    for mine, theirs in zip(got.layers, own.layers, strict=True):
        np.testing.assert_allclose(mine.weights, theirs.weights, atol=2e-5)
        np.testing.assert_allclose(mine.lse, theirs.lse, rtol=1e-4, atol=1e-3)
    again = el.record(FLIES, model=twin, tokenizer=tokenizer)[0]
    assert again.edits == ()
    assert not np.allclose(again.layers[1].weights, got.layers[1].weights, atol=1e-3)


def test_a_real_encoder_is_edited_as_its_eager_attention(minilm, words):
    given = words([FLIES, "a longer text, of more words than the first"], padding=True, return_tensors="pt")

    def scores(m):
        m.s[:, 3, 2, 1] = torch.finfo(m.s.dtype).min

    def output(m):
        m.y[:, :, 7] = 0

    model = minilm
    edits = [ed.Cut(layer=5, head=3, queries=2, keys=1), ed.Gate(layer=2, head=7)]
    by_hands = {
        "encoder.layer.5.attention.self": ByHand(scores=scores),
        "encoder.layer.2.attention.self": ByHand(output=output),
    }
    real = given["attention_mask"][..., None]
    with torch.no_grad():
        with by_hand(model, by_hands):
            want = model(**given)[0] * real
        with el.edit(model, edits):
            got = model(**given)[0] * real
        assert (model(**given)[0] * real - want).abs().max() > 1e-3
    torch.testing.assert_close(got, want, atol=1e-5, rtol=0)


def test_a_real_decoder_says_what_its_edited_matrix_says(smollm2, pieces):
    texts = ["The capital of France is", "When Mary and John went to the store, John gave a drink to"]
    pieces.pad_token, pieces.padding_side = pieces.eos_token, "left"
    given = pieces(texts, padding=True, return_tensors="pt")
    pads = (given["attention_mask"] == 0).sum(1)
    total = [0]

    def scores(m):
        N, M = m.s.shape[2:]
        total[0] += N
        queries = torch.arange(total[0] - N, total[0])[None] - pads[:, None]
        keys = torch.arange(M)[None] - pads[:, None]
        gone = (queries >= 1)[:, :, None] & (keys == 0)[:, None]
        m.s = with_heads(m.s, 4, m.s[:, 4].masked_fill(gone, torch.finfo(m.s.dtype).min))

    def output(m):
        m.y = with_heads(m.y, 2, m.y[:, :, 2] * 0.0, axis=2)

    edits = [ed.Cut(layer=10, head=4, queries=slice(1, None), keys=0), ed.Gate(layer=[3, 20], head=2)]
    by_hands = {
        "model.layers.10.self_attn": ByHand(scores=scores),
        "model.layers.3.self_attn": ByHand(output=output),
        "model.layers.20.self_attn": ByHand(output=output),
    }
    asked = {"max_new_tokens": 8, "do_sample": False, "output_logits": True, "return_dict_in_generate": True}
    asked["pad_token_id"] = pieces.pad_token_id
    with by_hand(smollm2, by_hands):
        want = smollm2.generate(**given, **asked)
    with el.edit(smollm2, edits):
        got = smollm2.generate(**given, **asked)
    plain = smollm2.generate(**given, **asked)
    assert torch.equal(got.sequences, want.sequences)
    got, want, plain = (torch.stack(one.logits) for one in (got, want, plain))
    assert (plain[0] - want[0]).abs().max() > 0.05
    torch.testing.assert_close(got, want, atol=1e-4, rtol=0)  # of logits up to 34


def test_words_of_an_encoder_decoder_are_found_on_their_side(words):
    model = with_sharp_heads(bart(vocab_size=len(words)))
    edits = [
        ed.Cut(layer=2, head=1, kind="cross", queries=["arrow"], keys=["flies"]),
        ed.Cut(layer=0, head=0, kind="encoder self", keys=["flies"]),
        ed.Cut(layer=1, head=0, kind="decoder self", keys=["bananas"]),
    ]
    asked = {"model": model, "tokenizer": words, "target": "bananas like an arrow"}
    encoder, decoder, cross = el.record("time flies like a dream", **asked, edits=edits)
    assert [one.keys for one in cross.edits] == [(2,), (2,), (2,)]
    # The decoder takes its start token first: [CLS] bananas like an arrow.
    assert cross.edits[0].queries == (5,)
    assert cross.layers[2].weights[1, 5, 2] == 0 < cross.layers[2].weights[1, 4, 2]
    assert (encoder.layers[0].weights[0, :, 2] == 0).all()
    assert (decoder.layers[1].weights[0, 2:, 2] == 0).all()
    assert cross.name.startswith("cross, ")
    with pytest.raises(EditError, match="keys must be a word of the text, got 'arrow'"):
        el.record("time flies like a dream", **asked, edits=ed.Cut(layer=0, kind="cross", keys=["arrow"]))


def test_words_that_are_not_there_or_there_twice_are_refused(minilm, words):
    with pytest.raises(EditError, match="'banana'"):
        el.record(FLIES, model=minilm, tokenizer=words, edits=ed.Cut(layer=0, keys="banana"))
    with pytest.raises(EditError, match=r"#1, #3"):
        el.record("time after time", model=minilm, tokenizer=words, edits=ed.Cut(layer=0, keys="time"))
    inputs = dict(words([FLIES], return_tensors="np"))
    with pytest.raises(EditError, match="keys must be positions where the text isn't known, got 'time'"):
        el.record(inputs, model=minilm, edits=ed.Cut(layer=0, keys="time"))
    (trace,) = el.record(inputs, model=minilm, edits=ed.Cut(layer=0, head=1, keys=1))
    assert (trace.layers[0].weights[1, :, 1] == 0).all()


def test_a_recording_within_a_block_is_of_edited_weights(minilm, words):
    cut = ed.Cut(layer=0, head=1, keys=1)
    with el.edit(minilm, cut):
        (trace,) = el.record(FLIES, model=minilm, tokenizer=words, edits=ed.Uniform(layer=1, head=0))
    assert trace.edits[0] is cut
    assert isinstance(trace.edits[1], ed.Uniform)
    assert (trace.layers[0].weights[1, :, 1] == 0).all()
    np.testing.assert_allclose(trace.layers[1].weights[0], 1 / len(trace.queries), atol=1e-6)


def test_what_is_known_of_a_model_is_not_taken_for_the_edited_one(minilm, words):
    """Answers that don't depend on a text are kept, by the state of their model."""
    model = text_model(minilm, words)
    before = model.state
    with el.edit(minilm, ed.Uniform(layer=1)):
        assert model.state != before
        edited = el.heads(FLIES, model=minilm, tokenizer=words)
    assert model.state == before
    plain = el.heads(FLIES, model=minilm, tokenizer=words)
    assert not np.array_equal(edited.frame()["induction"], plain.frame()["induction"])


def test_a_picture_is_recorded_edited():
    model = vit()
    (trace,) = el.record(inputs_one(model), model=model, edits=ed.Uniform(layer=1, head=2))
    np.testing.assert_allclose(trace.layers[1].weights[2], 1 / 17, atol=1e-6)


def inputs_one(model):
    return {"pixel_values": inputs_of(model, None)["pixel_values"][:1].numpy()}


def test_an_explanation_stands_beside_the_edited_one(minilm, words):
    asked = {"token": "flies", "layer": 0, "head": 3, "edits": ed.Cut(layer=0, keys=["time"])}
    found = el.explain(FLIES, **asked, model=minilm, tokenizer=words)
    own = el.explain(FLIES, **asked, model="minilm")
    assert str(found).split("\n\n")[1:] == str(own).split("\n\n")[1:]
    assert [trace.name for trace in found.traces] == ["as trained", "cut L0 >time"]
    assert (found.traces[1].layers[0].weights[:, :, 1] == 0).all()


def test_text_is_generated_edited(smollm2, pieces):
    gate = ed.Gate(layer=range(8, 24), by=0.0)
    asked = {"generate": 5, "model": smollm2, "tokenizer": pieces}
    with el.edit(smollm2, gate):
        given = pieces("The capital of France is", return_tensors="pt")
        want = smollm2.generate(**given, max_new_tokens=5, do_sample=False)
    edited = el.explain("The capital of France is", **asked, edits=gate)
    assert edited.text == pieces.decode(want[0])
    assert edited.text != el.explain("The capital of France is", **asked).text


@pytest.mark.parametrize("side", ["q", "pattern"])
def test_another_run_that_is_too_short_is_an_error_in_generation(side):
    model, ids = llama(), text(6, batch=1)
    (run,) = el.record({"input_ids": ids.numpy()}, model=model)
    edit = ed.Pattern(run, layer=0, head=1) if side == "pattern" else ed.Patch(run, "q", layer=0, head=1)
    with el.edit(model, edit), torch.no_grad():
        model(ids)
    with pytest.raises(EditError, match="other must be a run of at least 7"), el.edit(model, edit):
        model.generate(ids, max_new_tokens=3)
    some = {"queries": slice(6), "keys": slice(6)} if side == "pattern" else {"positions": slice(6)}
    edit = (
        ed.Pattern(run, layer=0, head=1, **some) if side == "pattern" else ed.Patch(run, "q", layer=0, head=1, **some)
    )
    with el.edit(model, edit):
        assert model.generate(ids, max_new_tokens=3).shape == (1, 9)


@torch.no_grad()
@pytest.mark.parametrize("make", [bert, llama, bart])
def test_patching_everything_of_another_run_gives_that_run(make):
    """All heads' outputs of all layers: what is left of the text is its embeddings and what comes of them."""
    model = with_sharp_heads(make())
    given = {"input_ids": text(6, batch=1)}
    if make is bart:
        given |= {"decoder_input_ids": text(4, batch=1, seed=2)}
    runs = el.record({name: x.numpy() for name, x in given.items()}, model=model)
    kinds = ["encoder self", "decoder self", "cross"] if make is bart else [None]
    want = model(**given)[0]
    for part in ("q", "k", "v", "output", "pattern"):
        edits = [
            ed.Pattern(runs, kind=kind) if part == "pattern" else ed.Patch(runs, part, kind=kind) for kind in kinds
        ]
        with el.edit(model, edits):
            torch.testing.assert_close(model(**given)[0], want, atol=2e-5, rtol=1e-5)
    changed = {**given, "input_ids": text(6, batch=1, seed=5)}
    values = [ed.Patch(runs, "v", kind=kind, layer=0) for kind in kinds] + [
        ed.Pattern(runs, kind=k, layer=0) for k in kinds
    ]
    outputs = [ed.Patch(runs, "output", kind=kind, layer=0) for kind in kinds]
    with el.edit(model, values):
        by_parts = model(**changed)[0]
    with el.edit(model, outputs):
        torch.testing.assert_close(model(**changed)[0], by_parts, atol=2e-5, rtol=1e-5)

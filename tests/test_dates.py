"""The model "dates": its files are whole, it is right, it equals the torch modules that it was trained as, and its
three traces say where it looked."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import eyeline as el
from examples import dates
from eyeline.models import ModelError, catalogue, copies, load
from eyeline.traces import TraceError, text_model

TEXT = "3rd of March, 2021"
ENTRY = catalogue.CATALOGUE["dates"]


@pytest.fixture(scope="module")
def model():
    return load("dates")


def twin(folder):
    """The torch modules with a folder's weights."""
    config = json.loads((folder / "config.json").read_text())
    found = dates.Rewriter(config["d_model"], config["num_attention_heads"]).eval()
    found.load_state_dict({name: x.float() for name, x in load_file(folder / "model.safetensors").items()})
    return found


def written(model, text):
    tokens = model.tokens(text)
    ids = model.network.write(model.network.context(np.array([tokens.ids])), 0, 1, 11)
    return "".join(dates.LETTERS[id] for id in ids)


@torch.no_grad()
def assert_same(model, torch_model, text):
    """Every vector and every cross-attention weight, to 1e-5."""
    example = dates.Example(text, [], "2021-03-03")
    batch = dates.gather([example])
    ids = np.array([model.tokens(text).ids])
    assert ids.tolist() == batch.letters.tolist()
    context = model.network.context(ids)
    np.testing.assert_allclose(context, torch_model.read(batch), rtol=0, atol=1e-5)
    logits, seen = torch_model(batch)
    x = model.network.embed(np.array([[0, *batch.written[0, :-1].tolist()]]))
    for _, crossed in model.network.decoder_layers(x, context):
        x = crossed.state
    np.testing.assert_allclose(model.network.logits(x), logits, rtol=1e-5, atol=1e-5)
    weights = el.observe(crossed.q, crossed.k, crossed.v, read=el.Weights()).weights
    np.testing.assert_allclose(weights, seen.weights, rtol=0, atol=1e-5)
    assert written(model, text).split("[END]")[0] == torch_model.rewrite(batch)[0]


def test_its_files_are_those_of_the_catalogue_and_small():
    found = copies.find(ENTRY)
    assert (found.where, found.fault) == ("installed package", None)
    assert sum(file.size for file in ENTRY.files.values()) < 500_000
    assert copies.describe(ENTRY) == f"here, in {found.folder} (installed package)"


def test_a_damaged_copy_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path))
    changed = {**ENTRY.files, "config.json": catalogue.PublishedFile(ENTRY.files["config.json"].size, "0" * 64)}
    monkeypatch.setitem(catalogue.CATALOGUE, "dates", replace(ENTRY, files=changed))
    with pytest.raises(ModelError, match=r"dates in .* is damaged: config.json is not what was published .*; pip inst"):
        load("dates")


def test_held_out_dates_come_out_right(model):
    _, held_out = dates.dates(dates.SEED)
    examples = [dates.write(day, number) for number, day in enumerate(held_out[:128])]
    right = sum(written(model, example.text) == f"{example.answer}[END]" for example in examples)
    assert right >= 127


@pytest.mark.parametrize("text", [TEXT, "1.1.2000", "wednesday, 22 september 1937"])
def test_it_equals_the_torch_modules(model, text):
    assert_same(model, twin(model.source), text)


def test_the_script_saves_what_loads_and_equals_its_modules(tmp_path):
    torch.manual_seed(0)
    trained = dates.Rewriter(width=32, heads=2)
    dates.train(trained, [datetime.date(2021, 3, 3)], steps=3)
    dates.save(trained, tmp_path)
    model = load(tmp_path)
    assert (model.config.width, model.config.heads, model.config.layers, model.config.decoder_layers) == (32, 2, 2, 2)
    assert model.tokens("the 3rd").pieces == list("the 3rd")
    assert_same(model, trained, TEXT)


def test_its_three_traces_are_of_what_it_read_and_wrote(model):
    encoder, decoder, cross = el.record(TEXT, model=model)
    assert [trace.name for trace in (encoder, decoder, cross)] == ["encoder", "decoder", "cross"]
    assert [trace.kind for trace in (encoder, decoder, cross)] == ["encoder", "decoder", "cross"]
    assert encoder.queries.text == cross.keys.text == TEXT
    assert decoder.queries.pieces == ("[START]", *"2021-03-03")
    assert cross.queries.pieces == (*"2021-03-03", "[END]")
    assert decoder.queries.text == cross.queries.text == "2021-03-03"
    assert [decoder.queries.text[slice(*word.span)] for word in decoder.queries.words[1:]] == [
        "2021",
        "-",
        "03",
        "-",
        "03",
    ]
    _, seen = twin(model.source)(dates.gather([dates.Example(TEXT, [], "2021-03-03")]))
    for head in range(4):
        np.testing.assert_allclose(cross.weights(1, head), seen.weights[0, head].detach(), rtol=0, atol=1e-5)
        ahead = np.triu(decoder.weights(0, head), 1)
        assert not ahead.any()
    year = cross.layers[1].weights.mean(0)[:4, -4:].sum(1)
    assert (year > 0.5).all()  # while it writes the year it looks at the year


def test_what_it_is_to_write_can_be_given(model):
    decoder = el.record(TEXT, model=model, target="1999-12-31")[1]
    assert decoder.queries.text == "1999-12-31"
    asked = text_model(model, kind="decoder", target="1999-12-31").read(TEXT)
    assert asked.tokens.pieces == ["[START]", *"1999-12-31"]


def test_a_trace_of_it_is_saved_and_loaded(tmp_path, model):
    cross = el.record(TEXT, model=model)[2]
    cross.save(tmp_path / "cross.safetensors")
    again = el.load_trace(tmp_path / "cross.safetensors")
    assert again.queries == cross.queries
    assert again.keys == cross.keys
    np.testing.assert_array_equal(again.weights(1, 2), cross.weights(1, 2))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("3 Märch", {}, r"text must have letters that .* knows \(space , - . / 0-9 A-Z a-z\), got 'ä' at 3; write"),
        ("3 " * 33, {}, "text must have at most 64 letters for .*, got 66; make it shorter"),
        ("  ", {}, "text must have at least one word, got '  '"),
        (TEXT, {"target": "20210-03-03"}, "target must have at most 10 letters for .*, got 11; make it shorter"),
        (TEXT, {"mask": "causal"}, "mask and scale must be left out with an encoder-decoder"),
        (TEXT, {"tokenizer": object()}, "tokenizer must be left out with a model that isn't of transformers"),
    ],
)
def test_what_it_cannot_read_is_refused(model, text, options, message):
    with pytest.raises((ModelError, TraceError), match=message):
        el.record(text, model=model, **options)


def test_its_traces_have_their_projections(model):
    encoder, decoder, cross = el.record(TEXT, model=model, keep=["input"])
    for trace in (encoder, decoder, cross):
        for layer in range(2):
            of, kept = trace.layers[layer], trace.inputs.layers[layer]
            for head in range(4):
                found = trace.projections(layer, head)
                np.testing.assert_allclose(found.query(found.x, np.arange(len(found.x))), of.q[head], atol=1e-5)
                np.testing.assert_allclose(found.key(found.keys_x, np.arange(len(found.keys_x))), of.k[head], atol=1e-5)
                np.testing.assert_allclose(found.value(found.keys_x), of.v[head], atol=1e-5)
            parts = [of.weights[head] @ of.v[head] @ trace.projections(layer, head).W_o.T for head in range(4)]
            np.testing.assert_allclose(sum(parts) + trace.projections(layer, 0).b_o, kept.added, atol=1e-5)
    # Queries come from the decoder, after its self-attention; keys and values from the encoder, after its last layer.
    assert cross.projections(0, 0).keys_x.shape == (18, 64)
    np.testing.assert_array_equal(cross.projections(0, 0).keys_x, cross.projections(1, 0).keys_x)
    np.testing.assert_array_equal(
        cross.projections(0, 0).keys_x, model.run([model.tokens(TEXT).ids]).hidden_states[-1][0]
    )


def test_a_file_holds_the_matrices_that_were_asked_for(model, tmp_path):
    cross = el.record(TEXT, model=model, keep=["L1H2"])[2]
    cross.save(tmp_path / "cross.safetensors")
    again = el.load_trace(tmp_path / "cross.safetensors").projections(1, 2)
    np.testing.assert_array_equal(again.W_k, cross.projections(1, 2).W_k)
    np.testing.assert_array_equal(again.keys_x, cross.projections(1, 2).keys_x)

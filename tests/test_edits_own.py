"""Edits in Eyeline's own models: each layer against the definition in float64, the model with rows of W_o set to zero,
words, generation, padding, the encoder-decoder; and means over texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import eyeline as el
from eyeline import edits as ed
from eyeline.edits import CallPlace, EditError, MeanOutputs
from eyeline.masks import Causal
from eyeline.models import load
from eyeline.models.checkpoints import StoredMatrix
from eyeline.models.linear import Linear
from eyeline.models.sites import sites
from eyeline.traces import TraceError

ARROW, BANANA = "time flies like an arrow", "fruit flies like a banana"
CAPITAL = "The capital of France is"
DATE = "3rd of March, 2021"
NAMES = ["minilm", "smollm2"]


@pytest.fixture(scope="module")
def models():
    return {name: load(name) for name in (*NAMES, "dates")}


@pytest.fixture(scope="module")
def others():
    """A run of another text, as long or longer."""
    return {"minilm": el.record(BANANA), "smollm2": el.record("The capital of Italy is not", model="smollm2")}


def every_edit(other, heads, width):
    """One or more edits of each kind, by positions."""
    kind = "encoder self" if other.kind == "encoder" else "decoder self"
    means = np.random.default_rng(0).standard_normal((other.model.layers, heads, width)).astype(np.float32)
    return {
        "cut": [ed.Cut(layer=1, head=[2, 3], queries=[2, 3], keys=[1, 2]), ed.Cut(layer=2, keys=0)],
        "uniform": [ed.Uniform(layer=1, head=2)],
        "reweight": [ed.Reweight(layer=1, head=3, queries=slice(1, 4), keys=[0, 1], by=0.25)],
        "reweight by position": [ed.Reweight(layer=0, head=1, keys=1, by=np.linspace(-1, 2, 9))],
        "gate": [ed.Gate(layer=1, head=2, by=-0.5), ed.Gate(layer=2, by=np.linspace(0, 1, 9))],
        "pattern": [ed.Pattern(other, layer=1, head=[0, 2])],
        "pattern of some": [ed.Pattern(other, layer=1, head=2, queries=[2, 3], keys=[0, 1])],
        "patch q": [ed.Patch(other, "q", layer=1, head=2, positions=[1, 3])],
        "patch k": [ed.Patch(other, "k", layer=1, head=2)],
        "patch v of a group": [ed.Patch(other, "v", layer=1, key_head=1)],
        "patch output": [ed.Patch(other, "output", layer=1, head=2, positions=3)],
        "mean": [ed.MeanOutput(MeanOutputs("any", 1, {kind: means}), layer=1, head=2)],
        "several": [
            ed.Gate(layer=1, head=2, by=0.5),
            ed.Reweight(layer=1, head=2, keys=0, by=0.5),
            ed.Pattern(other, layer=1, head=2, queries=[2]),
            ed.Cut(layer=1, head=2, queries=[1, 3], keys=1),
            ed.Patch(other, "q", layer=1, head=2, positions=2),
        ],
    }


CASES = [*every_edit(el.Trace.of(*np.zeros((2, 1, 1, 1, 1)), queries=["a"]), 1, 1)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NAMES)
def test_each_layer_is_the_definition(name, case, models, others):
    model = models[name]
    config, ids = model.config, model.tokens({"minilm": ARROW, "smollm2": CAPITAL}[name]).ids
    edits = every_edit(others[name], config.heads, config.head_dim)[case]
    (kind,) = sites(config).layers
    at = np.arange(len(ids))[None]
    run = model.run([ids], weights=True, edits=edits)
    mask = Causal() if config.causal else None
    changed = 0
    for number, layer in enumerate(run.layers[:4]):
        place = CallPlace(config.heads, config.key_heads, at, at, number, kind)
        options = {"mask": mask, "edits": edits, "call": place, "read": el.Weights()}
        truth = el.reference.observe(layer.q, layer.k, layer.v, **options)
        np.testing.assert_allclose(layer.weights, truth.weights, atol=2e-6)
        np.testing.assert_allclose(layer.output, truth.output, atol=1e-5 * max(1, np.abs(truth.output).max()))
        plain = el.reference.observe(layer.q, layer.k, layer.v, mask=mask)
        changed += np.abs(truth.output - plain.output).max() > 1e-3
    assert changed == len({one.layer for one in edits})


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NAMES)
def test_a_trace_has_the_edited_weights_and_outputs(name, case, models, others):
    model, text = models[name], {"minilm": ARROW, "smollm2": CAPITAL}[name]
    config = model.config
    edits = every_edit(others[name], config.heads, config.head_dim)[case]
    run = model.run([model.tokens(text).ids], weights=True, edits=edits)
    trace = el.record(text, model=model, edits=edits)
    for number in range(4):
        seen, layer = run.layers[number], trace.layers[number]
        np.testing.assert_allclose(layer.weights, seen.weights[0], atol=1e-6)
        np.testing.assert_allclose(
            trace.weights(number, 2, [3, 1], slice(0, 3)), layer.weights[2][[3, 1], :3], atol=1e-6
        )
        rows = layer.observe(el.Weights(), queries=(2, 4)).weights[:, 0]
        np.testing.assert_allclose(rows, layer.weights[:, 2:4], atol=1e-6)
        pooled = trace.pooled(number, 2, (1, 5), (0, 4), 2, 2)
        np.testing.assert_allclose(pooled, layer.weights[2][1:5, :4].reshape(2, 2, 2, 2).mean(axis=(1, 3)), atol=1e-6)
        np.testing.assert_allclose(layer.output_of(range(config.heads)), seen.output[0], atol=1e-5)
        np.testing.assert_array_equal(layer.output_of([2], (1, 3)), layer.output_of([2])[:, 1:3])
        times = np.linspace(0, 1, len(trace.queries))[1:4]
        factored = layer.observe(el.Weights(), queries=(1, 4), factor=times).weights[:, 0]
        np.testing.assert_allclose(factored, layer.weights[:, 1:4] * times[:, None], atol=1e-6)
    w = np.array([layer.weights for layer in trace.layers], np.float64)
    entropy = -(w * np.log(np.where(w > 0, w, 1))).sum(axis=-1)
    counted = (w >= 0).all(axis=-1) & (np.array([layer.lse for layer in trace.layers]) > -np.inf)
    mean = (entropy * counted).sum(axis=-1) / np.maximum(counted.sum(axis=-1), 1)
    np.testing.assert_allclose(trace.measures.entropy, mean, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_closed_gate_is_the_model_with_its_part_of_w_o_set_to_zero(name, models):
    model = models[name]
    config, ids = model.config, np.array([model.tokens(ARROW).ids])
    D, network = config.head_dim, model.network
    block = network.blocks[1]
    (matrix,) = (part.whole.copy() for part in block.attended.parts)
    for head in (0, 3):
        matrix[:, head * D : (head + 1) * D] = 0
    silent = replace(block, attended=Linear([StoredMatrix(matrix)], block.attended.biases))
    without = replace(network, blocks=(network.blocks[0], silent, *network.blocks[2:]))
    *_, last = without.layers(without.embed(ids), None, None)
    gated = model.run(ids, edits=ed.Gate(layer=1, head=[0, 3])).hidden_states[-1]
    np.testing.assert_allclose(gated, last.state, atol=2e-5 * np.abs(last.state).max())
    assert np.abs(gated - model.run(ids).hidden_states[-1]).max() > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_what_changes_nothing_changes_nothing(name, models):
    model = models[name]
    ids, trace = [model.tokens(ARROW).ids], el.record(ARROW, model=model)
    plain = model.run(ids).hidden_states[-1]
    for edit in (ed.Cut(layer=2, queries=[]), ed.Reweight(layer=2, by=1), ed.Gate(by=1)):
        np.testing.assert_array_equal(model.run(ids, edits=edit).hidden_states[-1], plain)
    for name in ("q", "k", "v", "output"):
        np.testing.assert_array_equal(model.run(ids, edits=ed.Patch(trace, name, layer=2)).hidden_states[-1], plain)
    same = model.run(ids, edits=ed.Pattern(trace, layer=2)).hidden_states[-1]
    np.testing.assert_allclose(same, plain, atol=1e-5 * np.abs(plain).max())
    gated = model.run(ids, edits=ed.Gate(layer=2)).hidden_states[-1]
    cut = model.run(ids, edits=ed.Cut(layer=2)).hidden_states[-1]
    np.testing.assert_array_equal(cut, gated)


def test_a_batch_with_padding_is_its_texts(models):
    model = models["minilm"]
    short, long = (model.tokens(text).ids for text in ("time flies", ARROW))
    padded = [short + [0] * (len(long) - len(short)), long]
    lengths = [len(short), len(long)]
    other = el.record("time passes")  # as long as the short one
    for edits in (
        [ed.Cut(layer=1, queries=slice(-1, None), keys=1), ed.Uniform(layer=3, head=2)],
        [ed.Gate(layer=2, by=np.linspace(0, 1, len(long)))],
        [ed.Patch(other, "v", layer=2, positions=[1, 2])],
    ):
        both = model.run(padded, lengths=lengths, edits=edits).hidden_states[-1]
        for row, text in enumerate((short, long)):
            alone = model.run([text], edits=edits).hidden_states[-1][0]
            np.testing.assert_allclose(both[row, : len(text)], alone, atol=1e-5)
    whole = ed.Patch(other, "v", layer=2)
    model.run([padded[0]], lengths=[len(short)], edits=whole)
    with pytest.raises(EditError, match=r"other must be a run of at least 7 tokens, got 4"):
        model.run(padded, lengths=lengths, edits=whole)


def test_generation_with_edits_is_one_long_run(models):
    model = models["smollm2"]
    ids = model.tokens(CAPITAL).ids
    edits = [ed.Gate(layer=0), ed.Cut(layer=3, queries=slice(5, None), keys=0), ed.Uniform(layer=4, head=1)]
    new = [step.id for step in model.generate(ids, 4, edits=edits)]
    assert new != [step.id for step in model.generate(ids, 4)]
    whole = model.run([ids + new], edits=edits)
    logits = model.logits(whole.hidden_states[-1][0, len(ids) - 1 : -1])
    assert logits.argmax(axis=-1).tolist() == new
    answer = el.explain(CAPITAL, generate=4, model=model, edits=edits)
    assert answer.text == CAPITAL + model.text(new)
    assert answer.runs[0].name == "as trained"
    trained, edited = answer.traces
    assert (len(trained.edits), len(edited.edits)) == (0, 3)
    for layer in (0, 3, 4):
        weights = model.run([ids + new[:-1]], weights=True, edits=edits).layers[layer].weights[0]
        got = edited.layers[layer].weights[:, : len(ids) + 3, : len(ids) + 3]
        np.testing.assert_allclose(got, weights, atol=1e-5)


def test_another_run_that_is_too_short_is_an_error_while_generating(models):
    model, other = models["smollm2"], el.record(CAPITAL, model="smollm2")
    ids = model.tokens(CAPITAL).ids
    steps = model.generate(ids, 4, edits=ed.Patch(other, "v", layer=2))
    next(steps)
    with pytest.raises(EditError, match=r"other must be a run of at least 6 tokens, got 5; record a longer text"):
        next(steps)
    assert len(list(model.generate(ids, 4, edits=ed.Patch(other, "v", layer=2, positions=slice(0, 5))))) == 4


def test_a_tensor_is_a_number_where_there_are_no_gradients():
    torch = pytest.importorskip("torch")
    by = torch.tensor(0.5, requires_grad=True)
    for edit in (ed.Gate(layer=1, by=by), ed.Reweight(layer=1, by=by), ed.Gate(layer=1, by=by.expand(7))):
        plain = replace(edit, by=np.broadcast_to(0.5, by.shape if edit.by is by else (7,)))
        found, truth = (el.record(ARROW, edits=one).layers[2].weights for one in (edit, plain))
        np.testing.assert_array_equal(found, truth)


def test_words_are_found_as_explain_finds_them():
    by_word = el.record(ARROW, edits=ed.Cut(layer=1, head=2, queries="Flies", keys=["time", "[SEP]", 3]))
    assert [(one.queries, one.keys) for one in by_word.edits] == [((2,), (1, 6, 3))]
    assert by_word.name == "cut L1H2 Flies>time,[SEP],#3"
    pieces = el.record("unbelievable things", edits=ed.Cut(layer=1, keys="unbelievable"))
    assert pieces.edits[0].keys == tuple(range(1, len(pieces.queries) - 2))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            ed.Cut(layer=1, queries="fleas"),
            "queries must be a word of the text, got 'fleas', which isn't there; the words",
        ),
        (ed.Cut(layer=1, keys="the"), "keys must be one word of the text, got 'the', which is there 2 times: 1 is"),
        (ed.Cut(layer=1, keys="the"), "say which by its position: #1, #4"),
        (ed.Patch(object(), "q", layer=1, positions="the"), "queries must be one word of the text, got 'the'"),
        (ed.Gate(layer=6), "layer must be from 0 to 5, got 6, in Gate"),
        (ed.Gate(layer=1, head=12), "head must be from 0 to 11, got 12"),
        (ed.Gate(layer=1, kind="cross"), "kind must be one of this model's, 'encoder self', got 'cross'"),
        (ed.Pattern("x", layer=1), "other must be a trace of another run, as eyeline.record makes it, got str"),
    ],
)
def test_what_does_not_fit_is_an_error(edit, said):
    with pytest.raises(EditError) as caught:
        el.record("the dog and the cat", edits=edit)
    assert said in str(caught.value)


def test_words_need_a_text(models):
    with pytest.raises(EditError, match="queries must be positions where the text isn't known, got 'flies'"):
        models["minilm"].run([[101, 102]], edits=ed.Cut(layer=0, queries="flies"))
    with pytest.raises(TypeError, match="edits must be edits, such as"):
        el.record(ARROW, edits=["gate L1"])


def test_each_kind_of_an_encoder_decoder_is_the_definition(models):
    model = models["dates"]
    plain = el.record(DATE, model=model)
    edits = [
        ed.Cut(layer=0, head=1, kind="encoder self", queries=[2, 3], keys="3rd"),
        ed.Uniform(layer=1, head=2, kind="decoder self"),
        ed.Reweight(layer=0, head=0, kind="cross", queries=[1, 2], keys="March", by=0.5),
        ed.Gate(layer=1, head=3, kind="cross", by=2.0),
        ed.Pattern(plain, layer=1, head=0, kind="cross", queries=slice(0, 11)),
    ]
    encoder, decoder, cross = el.record(DATE, model=model, edits=edits)
    assert [trace.name.split(",")[0] for trace in (encoder, decoder, cross)] == ["encoder", "decoder", "cross"]
    assert encoder.weights(0, 1)[2:4, :3].max() == 0
    w = decoder.weights(1, 2)
    np.testing.assert_allclose(w, np.tril(np.ones_like(w)) / np.arange(1, len(w) + 1)[:, None], atol=1e-6)
    layer = cross.layers[0]
    s = np.einsum("nd,md->nm", layer.q[0].astype(np.float64), layer.k[0]) * layer.scale
    softmax = np.exp(s - s.max(axis=1, keepdims=True))
    softmax /= softmax.sum(axis=1, keepdims=True)
    softmax[1:3, 7:12] *= 0.5  # "March"
    np.testing.assert_allclose(cross.weights(0, 0), softmax, atol=1e-6)
    np.testing.assert_allclose(cross.weights(1, 0), plain[2].weights(1, 0), atol=1e-6)
    assert encoder.edits == cross.edits
    assert cross.edits[2].keys == tuple(range(7, 12))
    assert el.record(DATE, model=model, edits=ed.Gate(kind="cross"))[1].queries.text != plain[1].queries.text


def test_words_of_what_is_written_are_found_in_it():
    cut = ed.Cut(layer=0, kind="cross", queries="03", keys="March")
    with pytest.raises(EditError, match="which is there 2 times"):
        el.record(DATE, model="dates", edits=cut)
    found = el.record(DATE, model="dates", target="2021-04-03", edits=replace(cut, queries="04"))[2]
    assert found.edits[0].queries == (5, 6)
    assert found.weights(0, 0)[5:7, 7:12].max() == 0


def test_mean_outputs_are_means_of_the_outputs(models):
    texts = [ARROW, "", "  ", BANANA, "The time!"]
    for name in NAMES:
        traces = [el.record(text, model=models[name]) for text in texts if text.strip()]
        layers = range(traces[0].model.layers)
        tokens = sum(len(trace.queries) for trace in traces)
        heads = range(traces[0].model.heads)
        sums = [sum(t.layers[layer].output_of(heads).sum(axis=1, dtype=np.float64) for t in traces) for layer in layers]
        means = el.mean_outputs(iter(texts), model=models[name])
        (found,) = means.outputs.values()
        assert means.tokens == tokens
        np.testing.assert_allclose(found, np.stack(sums) / tokens, atol=2e-6)
        trace = el.record(ARROW, model=models[name], edits=ed.MeanOutput(means, layer=2, head=1))
        out = trace.layers[2].output_of([1])[0]
        np.testing.assert_array_equal(out, np.broadcast_to(found[2, 1], out.shape))


def test_mean_outputs_of_an_encoder_decoder_and_of_nothing(models):
    done = []
    means = el.mean_outputs([DATE, "1 May 1999"], model=models["dates"], texts_done=done.append)
    assert {kind: x.shape for kind, x in means.outputs.items()} == dict.fromkeys(
        ("encoder self", "decoder self", "cross"), (2, 4, 16)
    )
    assert done == [1, 2]
    with pytest.raises(TraceError, match="texts must have at least one word among them, got none"):
        el.mean_outputs(["", " "])
    with pytest.raises(TypeError, match="write \\[text\\] for one"):
        el.mean_outputs("a text")
    with pytest.raises(TypeError, match="texts must be strings, got int among them"):
        el.mean_outputs([3])

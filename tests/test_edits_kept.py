"""What keeps edits: a trace and its file, other runs that edits are taken from, explain and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eyeline as el
from eyeline import edits as ed
from eyeline.answers.behaviour.head_measures import shifted
from eyeline.cli import main
from eyeline.edits import EditError, words_of
from eyeline.traces import TraceError, load_trace
from eyeline.traces.safetensors_file import StoredArrays
from eyeline.views.page.edited_layers import as_sent, factors

ARROW, BANANA = "time flies like an arrow", "fruit flies like a banana"
EDITS = [
    ed.Cut(layer=1, head=2, queries="flies", keys=["time", 0]),
    ed.Uniform(layer=2, head=[0, 3]),
    ed.Reweight(layer=3, head=1, keys="like", by=[1, 0.5, 0.25, 0, 2, 1, 1]),
    ed.Gate(layer=slice(4, None), head=5, by=0.1),
]


@pytest.fixture(scope="module")
def edited():
    return el.record(ARROW, edits=EDITS)


@pytest.fixture
def line(capsys):
    def run(*words):
        code = main([*words]) or 0
        return code, *capsys.readouterr()

    return run


def test_a_file_has_the_edits_and_gives_the_edited_weights(edited, tmp_path):
    path = tmp_path / "edited.safetensors"
    edited.save(path)
    loaded = load_trace(path)
    assert loaded.name == edited.name == "cut L1H2 flies>time,#0, uniform L2H0,L2H3, 2 more edits"
    assert [words_of(one) for one in loaded.edits] == [words_of(one) for one in edited.edits]
    assert words_of(loaded.edits[0]) == "cut L1H2 #2>#1,#0"
    for layer in range(6):
        np.testing.assert_array_equal(loaded.layers[layer].weights, edited.layers[layer].weights)
        outputs = (trace.layers[layer].output_of(range(12)) for trace in (loaded, edited))
        np.testing.assert_array_equal(*outputs)
    np.testing.assert_array_equal(loaded.measures.entropy, edited.measures.entropy)
    assert StoredArrays(path).about["schema"] == "eyeline.trace/2"


def test_a_file_without_edits_stays_as_it_was(tmp_path):
    trace = el.record(ARROW)
    trace.save(tmp_path / "plain.safetensors")
    about = StoredArrays(tmp_path / "plain.safetensors").about
    assert about["schema"] == "eyeline.trace/1"
    assert "edits" not in about
    assert load_trace(tmp_path / "plain.safetensors").edits == ()


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (3, "edits must be a list, got 3"),
        (["cut L9 >"], "layer must be from 0 to 5"),
        (["gate L1H12"], "head must be from 0 to 11, got 12"),
        (["mean L1"], "edits must be edits in words, got"),
        (["gate"], "edits must be edits in words, got"),
        ([7], "edits must be strings of valid Unicode"),
    ],
)
def test_wrong_edits_of_a_file_are_told(edits, said, edited, tmp_path, monkeypatch):
    path = tmp_path / "edited.safetensors"
    monkeypatch.setattr("eyeline.traces.stored_trace.stored_edits", lambda _: edits)
    edited.save(path)
    monkeypatch.undo()
    if edits == ["cut L9 >"]:
        assert load_trace(path).layers[5].edits is None  # a layer that isn't there is edited in vain
        return
    with pytest.raises(TraceError, match=said):
        load_trace(path)


def test_scattered_cuts_are_kept_beside_the_mask(tmp_path):
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    cut = ed.Cut(layer=1, head=[2, 3], queries=range(1, 19), keys=range(0, 18, 2))
    trace = el.record(text, edits=cut)
    layer = trace.layers[1]
    assert layer.allowed.kind == "all"
    assert layer.edits.cuts
    plain = el.record(text).layers[1].weights
    kept = plain[2:4, 1:] * (np.arange(19) % 2 == 1)
    kept[:, :, 18:] = plain[2:4, 1:, 18:]
    expected = plain.copy()
    expected[2:4, 1:] = kept / kept.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(layer.weights, expected, atol=1e-6)
    np.testing.assert_allclose(trace.weights(1, 2, [3, 0], slice(2, 7)), expected[2][[3, 0], 2:7], atol=1e-6)
    np.testing.assert_allclose(layer.of_heads([1, 3]).weights(), expected[[1, 3]], atol=1e-6)
    trace.save(tmp_path / "x.safetensors")
    np.testing.assert_array_equal(load_trace(tmp_path / "x.safetensors").layers[1].weights, layer.weights)
    taken = el.record(text, edits=ed.Pattern(trace, layer=1, head=2))
    np.testing.assert_allclose(taken.weights(1, 2), expected[2], atol=1e-6)


@pytest.mark.parametrize("kind", ["pattern", "patch", "mean"])
def test_what_takes_other_runs_cannot_be_saved(kind, tmp_path):
    if kind == "mean":
        edit = ed.MeanOutput(el.mean_outputs([BANANA]), layer=1)
    else:
        other = el.record(BANANA)
        edit = ed.Pattern(other, layer=1) if kind == "pattern" else ed.Patch(other, "v", layer=1)
    trace = el.record(ARROW, edits=edit)
    with pytest.raises(TraceError, match=r"edits must be ones that words can say for a trace to be saved, got "):
        trace.save(tmp_path / "x.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_an_edited_run_gives_its_edited_weights_to_others(edited):
    layer = edited.layers[1].of_heads([2, 5])
    np.testing.assert_allclose(layer.weights(), edited.layers[1].weights[[2, 5]], atol=1e-6)
    uniform = edited.layers[2].of_heads([3, 4])
    np.testing.assert_allclose(uniform.weights(), edited.layers[2].weights[[3, 4]], atol=1e-6)
    with pytest.raises(EditError, match=r"other must be a run whose heads 1 have weights of their own, got one in"):
        edited.layers[3].of_heads([1])
    assert edited.layers[3].of_heads([0, 2]).q.shape == (2, 7, 32)
    taken = el.record(BANANA, edits=ed.Pattern(edited, layer=2, head=3))
    np.testing.assert_allclose(taken.weights(2, 3), np.full((7, 7), 1 / 7), atol=1e-6)
    without = el.record(ARROW, values=False)
    with pytest.raises(EditError, match="other must have kept its values"):
        el.record(BANANA, edits=ed.Patch(without, "output", layer=1))


def test_what_heads_do_is_read_of_the_edited_weights(edited):
    for layer in edited.layers:
        weights = layer.weights
        for offset in (-1, 0, 2):
            places = np.arange(max(0, -offset), min(7, 7 - offset))
            found = shifted(layer, offset)[:, places]
            np.testing.assert_allclose(found, weights[:, places, places + offset], atol=1e-5)


@pytest.mark.parametrize(
    "edits",
    [
        EDITS,
        [ed.Uniform(layer=1, head=2), ed.Reweight(layer=1, head=2, keys=0, by=0.5)],
        [ed.Cut(layer=1, head=2, keys=range(0, 18, 2)), ed.Reweight(layer=1, head=2, keys=1, by=-1.5)],
        [ed.Cut(layer=1, head=2, queries=3), ed.Uniform(layer=1, head=2)],
    ],
)
def test_a_page_computes_the_edited_weights(edits):
    text = ARROW if edits is EDITS else "one two three four five six seven eight nine ten eleven twelve a b c d e"
    for layer in el.record(text, edits=edits).layers[:4]:
        sent = as_sent(layer)
        allowed = np.broadcast_to(sent.allowed.dense(*(x.shape[1] for x in (sent.q, sent.k))), layer.weights.shape)
        for head in (0, 1, 2, 3):
            s = sent.scale * (sent.q[head].astype(np.float64) @ sent.k[head].T)
            with np.errstate(invalid="ignore", over="ignore"):
                w = np.where(allowed[head], np.exp(s - sent.lse[head][:, None]), 0)
            factor = factors(layer, head)
            np.testing.assert_allclose(w if factor is None else w * factor, layer.weights[head], atol=5e-6)


def test_explain_shows_the_run_before_and_after():
    cut = ed.Cut(layer=5, head=3, queries="flies", keys="time")
    answer = el.explain(ARROW, "flies", layer=5, head=3, steps=True, edits=[cut, ed.Gate(layer=5, head=3, by=0.5)])
    before, after = answer.runs
    assert (before.name, after.name) == ("as trained", "cut L5H3 flies>time, gate L5H3 0.5")
    assert (before.edits, after.edits) == ((), ("cut L5H3 #2>#1", "gate L5H3 0.5"))
    kept = np.delete(before.weights, 1)
    np.testing.assert_allclose(np.delete(after.weights, 1), kept / kept.sum(), atol=1e-6)
    assert after.weights[1] == 0
    np.testing.assert_allclose(after.steps.output, answer.traces[1].layers[5].output_of([3])[0, 2], atol=1e-6)
    document = answer.document()
    assert [run["edits"] for run in document["runs"]] == [[], ["cut L5H3 #2>#1", "gate L5H3 0.5"]]
    for drawn in (str(answer), answer._repr_html_()):
        assert "flies" in drawn
        assert "cut L5H3" in " ".join(drawn.split())


def test_steps_of_an_edited_head_are_its_own():
    answer = el.explain(ARROW, "flies", layer=2, head=1, steps=True, edits=ed.Reweight(layer=2, head=1, keys=0, by=0.5))
    before, after = (run.steps for run in answer.runs)
    assert after.keys[0].weight == pytest.approx(before.keys[0].weight / 2, abs=1e-6)
    assert [key.weight for key in after.keys[1:]] == pytest.approx([key.weight for key in before.keys[1:]], abs=1e-6)
    assert after.weight_sum == pytest.approx(1 - before.keys[0].weight / 2, abs=1e-5)
    said = " ".join(str(el.explain(ARROW, edits=ed.Reweight(layer=5, keys=0, by=0.5))).split())
    assert "needn't add up" in said
    assert "needn't add up" not in " ".join(str(el.explain(ARROW, edits=ed.Cut(layer=5, keys=0))).split())


def test_the_command_line_takes_edits(line, tmp_path):
    words = ["explain", ARROW, "--token", "flies", "--edit", "cut L5 flies>time", "--edit", "uniform L4H2", "--json"]
    code, out, _ = line(*words)
    assert code == 0
    assert [run["edits"] for run in json.loads(out)["runs"]] == [[], ["cut L5 #2>#1", "uniform L4H2"]]
    over = tmp_path / "over.txt"
    over.write_text(f"{BANANA}\n\nThe time!\n")
    code, out, _ = line("explain", ARROW, "--edit", "mean L5H2", "--over", str(over), "--json")
    assert code == 0
    assert json.loads(out)["runs"][1]["edits"] == ["mean L5H2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--edit", "cut L5H3"], "tokens must be queries>keys, without spaces (> alone for all)"),
        (["--edit", "gate L6"], "layer must be from 0 to 5, got 6"),
        (["--edit", "cut L5 fleas>"], "queries must be a word of the text, got 'fleas', which isn't there"),
        (["--edit", "mean L5"], "means must be given for mean; say over which texts, with --over FILE"),
        (["--over", "x.txt"], "--over must come with --edit 'mean L5H3', whose texts it names"),
        (["--edit", "mean L5", "--over", "missing.txt"], "missing.txt: No such file or directory"),
        (["--rollout", "--edit", "gate L5"], "--rollout and --edit can't go together; leave out one of them"),
    ],
)
def test_a_wrong_edit_on_the_command_line_is_one_line(line, words, said):
    code, out, error = line("explain", ARROW, *words)
    assert (code, out) == (2, "")
    assert said in error
    assert error.count("\n") == 1

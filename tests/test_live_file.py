"""The live file: what it holds, how its weights were rounded, and that it runs texts as Python does, offline."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
from answers import Blocks
from encoders import save_encoder
from live import LivePage, minilm

import eyeline as el
from eyeline.models import ModelError, load
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.checkpoints import StoredMatrix
from eyeline.models.rounding import Int8Matrix, rounded
from eyeline.views.live.live_page import live_page
from eyeline.views.live.stored_models import check_runs, tensors_of

TYPED = "the old bank by the river was flooded"
DATE = "5 May 1998"
#: Sentences of several kinds, for what rounding changes.
SENTENCES = (
    "time flies like an arrow",
    "The translator of the letters drew the outline of the island from memory.",
    "A violin has four strings, tuned in fifths; some people say that it sings.",
    "Wo ist der Bahnhof? 3.14159 and \N{GREEK SMALL LETTER PI}, naïve café.",
)


@pytest.fixture(scope="module")
def blocks(live_file):
    """The file's blocks."""
    return Blocks(live_file.read_bytes())


@pytest.fixture(scope="module")
def model():
    """The model whose weights the file has."""
    return minilm()


@pytest.fixture(scope="module")
def shown(chromium, live_file):
    """The file in a browser without a network, both models ready, and a sentence typed."""
    live = LivePage(chromium, live_file)
    live.runs()
    live.page.locator(".prompt textarea").fill(TYPED)
    live.page.keyboard.press("Control+Enter")
    live.answered("answer", kind="head", trace=5)
    yield live
    live.close()


def stored_bytes(blocks, number):
    """The bytes of a model's tensors, from the pieces in the file."""
    entry = blocks.contents["live"]["models"][number]
    packed = [base64.b64decode(blocks.found[f"weights-{number}-{place}"]) for place in range(len(entry["pieces"]))]
    assert [len(piece) for piece in packed] == entry["pieces"]
    data = b"".join(zlib.decompress(piece, 31) for piece in packed)
    assert len(data) == entry["size"]
    return entry, data


def stored_tensor(data, kind, shape, at, scales=None):
    """A tensor as the page makes it of the file's bytes."""
    count = int(np.prod(shape))
    if kind != "int8":
        return np.frombuffer(data, {"float16": "<f2", "float32": "<f4"}[kind], count, at).reshape(shape)
    numbers = np.frombuffer(data, np.int8, count, at).reshape(shape).astype(np.float32)
    return numbers * np.frombuffer(data, "<f4", shape[0], scales)[:, None]


def test_it_fits_on_what_is_handed_out(live_file, blocks):
    assert live_file.stat().st_size <= 32e6
    names = ["minilm int8", "dates"]
    assert [one["name"] for one in blocks.contents["live"]["models"]] == names
    can = blocks.header["can"]
    assert (can["run"], can["live"], can["models"], can["edit"]) == (True, True, names, names)
    assert blocks.contents["live"]["source"] is None


def test_it_holds_the_weights_of_the_rounded_models_to_the_bit(blocks, model):
    for number, one in enumerate((model, load("dates"))):
        entry, data = stored_bytes(blocks, number)
        tensors = dict(tensors_of(one))
        assert entry["tensors"].keys() == tensors.keys()
        for name, tensor in tensors.items():
            exact = tensor.whole if isinstance(tensor, StoredMatrix) else np.float32(tensor)
            assert np.array_equal(np.float32(stored_tensor(data, *entry["tensors"][name])), exact), name
    kinds = {name: kind for name, (kind, *_) in blocks.contents["live"]["models"][0]["tensors"].items()}
    assert {name for name, kind in kinds.items() if kind == "int8"} == {
        name for name in kinds if re.search(r"(word_embeddings|query|key|value|dense)\.weight$", name)
    }
    assert set(kinds.values()) == {"int8", "float32"}


def test_it_says_whose_weights_they_are(blocks):
    said = re.search(r'<script type="text/plain" id="eyeline-licences">(.*?)</script>', blocks.text, re.DOTALL)[1]
    minilm_line, dates_line = said.strip().splitlines()
    for line, name in ((minilm_line, "minilm"), (dates_line, "dates")):
        known = CATALOGUE[name]
        assert known.license in line
        assert known.files["model.safetensors"].sha256 in line
    assert minilm_line.startswith("minilm int8: all-MiniLM-L6-v2")


def test_its_first_traces_are_those_of_the_rounded_weights(blocks, model):
    trace = el.record("time flies like an arrow", model=model)
    assert blocks.header["traces"][0]["model"]["name"] == "minilm int8"
    assert blocks.weights(0, 5, 11) == pytest.approx(trace.weights(5, 11), abs=2e-6)
    assert blocks.weights(0, 5, 11) != pytest.approx(el.record(trace.queries.text).weights(5, 11), abs=1e-5)


def test_rounding_is_a_scale_for_each_row(model):
    exact = load("minilm")
    pairs = zip(tensors_of(exact), tensors_of(model), strict=True)
    for (name, before), (_, after) in pairs:
        if not isinstance(after, Int8Matrix):
            assert np.array_equal(before, after), name
            continue
        whole = before.whole
        assert after.scales == pytest.approx(np.abs(whole).max(axis=1) / 127)
        assert np.abs(after.whole - whole).max(axis=1) == pytest.approx(after.scales / 2, rel=0.6, abs=1e-9), name
        assert (np.abs(after.whole - whole) <= after.scales[:, None] * 0.5001).all(), name


def test_what_rounding_changes_is_what_the_guide_says(model):
    weights, looks, clear, largest = [], [], [], {"q": 0.0, "k": 0.0, "lse": 0.0}
    for text in SENTENCES:
        before, after = el.record(text), el.record(text, model=model)
        for layer, (one, other) in enumerate(zip(before.layers, after.layers, strict=True)):
            for name in largest:
                spread = np.abs(getattr(one, name)).max()
                largest[name] = max(largest[name], np.abs(getattr(one, name) - getattr(other, name)).max() / spread)
            for head in range(12):
                exact, near = before.weights(layer, head), after.weights(layer, head)
                weights.append(np.abs(exact - near).max())
                moved = exact.argmax(axis=1) != near.argmax(axis=1)
                best = np.sort(exact, axis=1)
                looks.extend(moved)
                clear.extend(moved & (best[:, -1] - best[:, -2] > 0.05))
    assert np.median(weights) < 0.03
    assert np.mean(looks) < 0.03
    assert np.mean(clear) < 0.002
    assert all(value < 0.05 for value in largest.values()), largest


def test_a_row_of_zeros_and_tiny_numbers_are_rounded_too():
    matrix = np.array([[0, 0, 0], [1e-45, 0, -1e-45], [3e38, -3e38, 1]], np.float32)
    made = Int8Matrix(matrix)
    assert made.numbers.tolist() == [[0, 0, 0], [0, 0, 0], [127, -127, 0]]
    assert made.whole[:2].tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [(np.nan, "tiny must have finite weights to be rounded, got nan"), (1e6, "float16, got 1e\\+06; take int8")],
)
def test_weights_that_cant_be_rounded_are_refused(tmp_path, change, message):
    tiny = load(save_encoder(tmp_path))
    words = StoredMatrix(tiny.network.words.whole.copy())
    words.stored[3, 3] = change
    tiny.network = replace(tiny.network, embeddings=replace(tiny.network.embeddings, words=words))
    tiny.name = "tiny"
    with pytest.raises(ModelError, match=message):
        rounded(tiny, "float16")


def test_what_is_in_float16_already_stays_itself():
    dates = load("dates")
    assert rounded(dates, "float16") is dates
    assert rounded(dates).name == "dates int8"
    with pytest.raises(ValueError, match="weights must be one of int8, float16, got 'int4'"):
        rounded(dates, "int4")


def test_models_that_the_page_cant_run_are_refused(tiny_model, tmp_path):
    with pytest.raises(ModelError, match=r"must be an encoder for a live page, such as .*, a decoder \(llama"):
        check_runs(tiny_model)
    with pytest.raises(ModelError, match=r"must be an encoder for its weights to be rounded, got a decoder \(llama"):
        rounded(tiny_model)
    tiny = load(save_encoder(tmp_path))
    check_runs(tiny)
    tiny.config = replace(tiny.config, model_type="roberta")
    with pytest.raises(ModelError, match="must be one of bert, distilbert, electra, with embeddings as wide"):
        check_runs(tiny)
    # Its tokenizer is of whole words.
    with pytest.raises(ModelError, match="must be a tokenizer like BERT's"):
        live_page(tmp_path)


def test_a_typed_sentence_runs_as_in_python(shown, model):
    trace = el.record(TYPED, model=model)
    entries = shown.page.evaluate("window.answers.filter((one) => one.job === 'run' && one.reply).at(-1).reply.entries")
    assert entries[0]["queries"] == trace.queries.entry()
    assert entries[0]["model"]["name"] == "minilm int8"
    reply, buffers = shown.asked("head", trace=5)
    arrays = dict(zip(reply["arrays"], buffers, strict=True))
    heads = "window.answers.filter((one) => one.request.kind === 'head' && one.request.trace === 5)"
    request = shown.page.evaluate(f"{heads}.at(-1).request")
    layer, head = trace.layers[request["layer"]], request["head"]
    for name in ("q", "k", "v"):
        assert arrays[name] == pytest.approx(getattr(layer, name)[head].ravel(), abs=1e-5), name
    assert arrays["lse"] == pytest.approx(layer.lse[head], abs=1e-5)


def test_what_the_file_doesnt_hold_of_its_first_traces_is_computed(shown, model):
    place = {"trace": 0, "layer": 2, "head": 7}
    shown.page.goto(f"{shown.page.url.partition('#')[0]}#view=steps&trace=0&layer=2&head=7&token=2")
    shown.answered("answer", kind="projections", **place)
    reply, buffers = shown.asked("projections", **place)
    arrays = dict(zip(reply["arrays"], buffers, strict=True))
    assert reply["dtype"] == "float32"
    block = model.network.blocks[2]
    query, _, value = (part.whole[7 * 32 : 8 * 32] for part in block.query_key_value.parts)
    assert np.array_equal(arrays["W_q"].reshape(32, 384), query)
    assert np.array_equal(arrays["W_v"].reshape(32, 384), value)
    states = model.run([model.tokens("time flies like an arrow").ids]).hidden_states
    assert arrays["x"].reshape(-1, 384) == pytest.approx(states[2][0], abs=1e-5)

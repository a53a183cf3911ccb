"""Trace files that are none, were cut short, or say what can't be: each gets one line that names the key."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from eyeline.masks import Dense
from eyeline.traces import Trace, TraceError, load_trace


def trace() -> Trace:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, heads, 3, 4)) for heads in (4, 2, 2))
    allowed = np.array([[True, False, True], [True, True, False], [False, False, False]])
    return Trace.of(q, k, v, mask=Dense(allowed), queries=["a", "rose", "is"])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "good.safetensors"
    trace().save(path)
    return path


@pytest.fixture(scope="module")
def about(file):
    data = file.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["eyeline"])


@pytest.fixture
def changed(file, about, tmp_path):
    """The file with other metadata and other arrays."""

    def change(entry=None, arrays=None, without=()):
        tensors = {name: array for name, array in load_file(file).items() if name not in without} | (arrays or {})
        path = tmp_path / "changed.safetensors"
        save_file(tensors, path, {"eyeline": json.dumps(about if entry is None else entry)})
        return path

    return change


def put(about, place, value):
    """A copy of the metadata with one value changed."""
    copied = json.loads(json.dumps(about))
    *outer, last = place
    inside = copied
    for name in outer:
        inside = inside[name]
    inside[last] = value
    return copied


WRONG = [
    (["schema"], "eyeline.trace/3", "schema must be 'eyeline.trace/1' or 'eyeline.trace/2', which this version"),
    (["name"], 3, "name must be a string"),
    (["kind"], "recurrent", "kind must be one of encoder, decoder, cross, got 'recurrent'"),
    (["kind"], ["encoder"], "kind must be one of"),
    (["kind"], "cross", "keys must be there where kind is 'cross'"),
    (["model"], [], "model must be an object"),
    (["model", "layers"], 2**40, "model.layers must be a whole number from 1 to"),
    (["model", "layers"], 2**31 - 1, "layers must be a list of 2147483647, one for each layer"),
    (["model", "heads"], True, "model.heads must be a whole number"),
    (["model", "heads"], 10**6, r"layers.0.q must be F32 of shape \(1000000, 3, 4\)"),
    (["model", "key_heads"], 3, "model.key_heads must be a divisor of heads, 4, got 3"),
    (["model", "key_heads"], 0, "model.key_heads must be a whole number from 1"),
    (["model", "head_dim"], 5, r"layers.0.q must be F32 of shape \(4, 3, 5\) .* got F32 of shape \(4, 3, 4\)"),
    (["model", "value_dim"], 7, r"layers.0.v must be F32 of shape \(2, 3, 7\)"),
    (["layers"], {}, "layers must be a list"),
    (["layers", 1], None, r"layers\[1\] must be an object, got nothing"),
    (["layers", 0, "scale"], float("inf"), r"layers\[0\].scale must be a finite number, got inf"),
    (["layers", 0, "scale"], "1", r"layers\[0\].scale must be a finite number, got '1'"),
    (["layers", 0, "mask"], "sideways", r"layers\[0\].mask must be one of all, causal, bounds, bits"),
    (["layers", 0, "mask"], "bounds", r"masks.0 must be I32 of shape \(1, 3, 1, 2\)"),
    (["layers", 0, "mask_array"], "masks.9", "must have an array masks.9, got none"),
    (["layers", 0, "mask_array"], "layers.0.q", r"layers.0.q must be U8 of shape \(4, 3, 3\)"),
    (["layers", 0, "mask_array"], None, r"layers\[0\].mask_array must be a string"),
    (["queries"], None, "queries must be an object"),
    (["queries", "text"], "\ud800", "queries.text must be a string of valid Unicode"),
    (["queries", "pieces"], [], "queries.pieces must be one string at least"),
    (["queries", "pieces"], ["a", 1, "c"], "queries.pieces must be strings"),
    (["queries", "ids"], [1, 2], "queries.ids must be 3 whole numbers"),
    (["queries", "ids"], [1, 2, 2.5], "queries.ids must be 3 whole numbers"),
    (["queries", "spans"], [[0, 1], [2, 6], [7, 99]], "queries.spans must be 3 places of the text"),
    (["queries", "spans"], [[0, 1], [6, 2], None], "queries.spans must be 3 places of the text"),
    (["queries", "words"], [[[0, 1], [0, 1]]], "queries.words must be all the 3 tokens in order"),
    (["queries", "words"], [[[1, 3], None], [[0, 1], None]], "queries.words must be all the 3 tokens in order"),
    (["queries", "words"], [[[0, 3]]], "queries.words must be pairs of tokens and a place"),
    (["queries", "words"], [[None, None]], "queries.words must be all the 3 tokens"),
    (["queries", "aside"], [3], "queries.aside must be places of the 3 words"),
    (["queries", "prompt"], 4, "queries.prompt must be a number of the 3 tokens, or null"),
]


@pytest.mark.parametrize(("place", "value", "says"), WRONG)
def test_what_a_file_says_of_itself_is_checked(changed, about, place, value, says):
    path = changed(put(about, place, value))
    with pytest.raises(TraceError, match=says) as caught:
        load_trace(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "without", "says"),
    [
        ({}, ("layers.1.lse",), "must have an array layers.1.lse, got none; save the trace again"),
        ({"layers.1.k": np.zeros((4, 3, 4), np.float32)}, (), r"layers.1.k must be F32 of shape \(2, 3, 4\)"),
        ({"layers.1.k": np.zeros((2, 3, 4))}, (), "layers.1.k must be F32 .* got F64"),
        ({"measures.entropy": np.full((2, 4), np.nan, np.float32)}, (), "measures.entropy must be finite numbers"),
        ({"measures.pictures": np.zeros((2, 4, 2, 3), np.uint8)}, (), "measures.pictures must be U8"),
        ({"masks.0": np.full((1, 3, 3), 2, np.uint8)}, (), "masks.0 must be 0 and 1 alone, got 2"),
    ],
)
def test_arrays_are_checked(changed, arrays, without, says):
    with pytest.raises(TraceError, match=says):
        load_trace(changed(None, arrays, without))


def test_another_programs_safetensors_is_no_trace(tmp_path):
    save_file({"x": np.zeros(3, np.float32)}, tmp_path / "x.safetensors")
    with pytest.raises(TraceError, match="must have 'eyeline' in its metadata, got none"):
        load_trace(tmp_path / "x.safetensors")
    for text, says in (("{", "must be JSON"), ("[1]", "its metadata must be an object, got \\[1\\]")):
        save_file({"x": np.zeros(3, np.float32)}, tmp_path / "x.safetensors", {"eyeline": text})
        with pytest.raises(TraceError, match=says):
            load_trace(tmp_path / "x.safetensors")


@given(st.data())
def test_a_file_that_was_cut_short_is_said_to_be(file, tmp_path_factory, data):
    whole = file.read_bytes()
    path = tmp_path_factory.mktemp("cut") / "cut.safetensors"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(TraceError, match="is no trace, or was cut short"):
        load_trace(path)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        load_trace(tmp_path / "none.safetensors")
    with pytest.raises(OSError, match="none") as caught:
        trace().save(tmp_path / "none" / "x.safetensors")
    assert caught.value.filename == str(tmp_path / "none" / "x.safetensors")


def test_it_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("eyeline.caches.os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trace().save(tmp_path / "x.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_query_that_may_see_nothing_stays_so(file):
    opened = load_trace(file)
    assert opened.layers[0].lse[:, 2].tolist() == [-np.inf] * 4
    assert opened.weights(0, 3, 2).tolist() == [[0, 0, 0]]
    assert opened.weights(1, 3, 0)[0, 1] == 0

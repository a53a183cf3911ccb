"""What a page is told: its header, and the answers to its requests, each with what is wrong with it if it can't be."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from answers import weights_of
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline.masks import Dense
from eyeline.traces import Trace, record, record_tokens
from eyeline.views.page import Page, RequestError

DOCS = Path(__file__).parent.parent / "docs" / "page-format.md"
TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def page():
    return Page([record(TEXT)])


def plain(value) -> bool:
    """Whether a value is what JSON can say, in Python's own types."""
    if isinstance(value, dict):
        return all(type(name) is str and plain(one) for name, one in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def test_the_header_is_what_json_can_say(page):
    header = page.header()
    assert plain(header)
    assert json.loads(json.dumps(header, allow_nan=False)) == header
    assert header["schema"] == "eyeline.page/1"
    assert (header["version"], header["title"]) == (el.__version__, TEXT)
    assert header["can"] == {"run": False, "picture": True, "models": [], "edit": ["minilm"]}
    assert header["state"] == {"view": "sentence", "trace": 0, "layer": 5, "head": 11, "token": 3}
    (trace,) = header["traces"]
    assert trace["model"] == {
        "name": "minilm",
        "layers": 6,
        "heads": 12,
        "key_heads": 12,
        "head_dim": 32,
        "value_dim": 32,
    }
    assert (trace["name"], trace["kind"], trace["keys"], trace["values"]) == ("as trained", "encoder", None, True)
    assert trace["layers"] == [{"scale": 1 / 32**0.5, "mask": {"kind": "all"}}] * 6
    assert trace["picture"] == [7, 7]
    for measure in ("entropy", "distance", "aside"):
        assert np.shape(trace[measure]) == (6, 12)


def test_a_query_that_may_see_nothing_leaves_no_nan_in_the_header():
    q = np.ones((1, 1, 2, 2))
    page = Page([Trace.of(q, q, mask=Dense(np.zeros((2, 2), bool)), queries=["a", "b"])])
    assert plain(page.header())
    assert page.header()["traces"][0]["entropy"] == [[0.0]]
    assert weights_of(page, 0, 0, 0).tolist() == [[0, 0], [0, 0]]


def test_a_header_of_no_traces_is_one_to_add_to(page):
    empty = Page([])
    assert (empty.header()["traces"], empty.header()["title"]) == ([], "Eyeline")
    assert empty.add(page.traces[0]) == 0
    assert len(empty.header()["traces"]) == 1


def test_the_state_given_wins():
    page = Page([record(TEXT)], {"view": "matrix", "head": 3})
    assert page.header()["state"] == {"view": "matrix", "trace": 0, "layer": 5, "head": 3, "token": None}


def test_a_long_title_is_cut_and_stays_on_one_line():
    words = ["line\nbreak"] + ["word"] * 100
    q = np.ones((1, 1, len(words), 1))
    title = Page([Trace.of(q, q, queries=words)]).header()["title"]
    assert title.startswith("line break word word")
    assert title.endswith("…")
    assert len(title) == 80


def test_a_head_is_answered_with_its_own_arrays(page):
    reply, buffers = page.answer({"id": 3, "kind": "head", "trace": 0, "layer": 2, "head": 7})
    assert reply == {
        "id": 3,
        "kind": "head",
        "shape": {"N": 7, "M": 7, "D": 32, "E": 32},
        "dtype": "float32",
        "arrays": ["q", "k", "lse", "v"],
    }
    layer = page.traces[0].layers[2]
    for buffer, array in zip(buffers, (layer.q[7], layer.k[7], layer.lse[7], layer.v[7]), strict=True):
        assert buffer.format == "B"
        assert np.array_equal(np.frombuffer(buffer, "<f4"), array.ravel())


def test_heads_that_share_keys_are_answered_with_the_same_ones():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, heads, 3, 2)) for heads in (6, 2, 2))
    page = Page([Trace.of(q, k, v, queries=["a", "b", "c"])])
    for head in range(6):
        _, (_, keys, _, values) = page.answer({"id": 0, "kind": "head", "trace": 0, "layer": 0, "head": head})
        assert np.array_equal(np.frombuffer(keys, "<f4"), k[0, head // 3].astype(np.float32).ravel())
        assert np.array_equal(np.frombuffer(values, "<f4"), v[0, head // 3].astype(np.float32).ravel())


def test_masks_of_each_head_come_with_it():
    q, k = np.zeros((1, 2, 3, 1)), np.zeros((1, 2, 4, 1))
    rng = np.random.default_rng(1)
    allowed = rng.random((2, 3, 4)) < 0.5
    allowed[:, :, 0], allowed[1, 0] = True, [True, False, True, False]
    page = Page([Trace.of(q, k, mask=Dense(allowed), queries=list("abc"), keys=list("ABCD"))])
    assert page.header()["traces"][0]["layers"][0]["mask"] == {"kind": "bits"}
    for head in range(2):
        reply, buffers = page.answer({"id": 0, "kind": "head", "trace": 0, "layer": 0, "head": head})
        assert (reply["arrays"], reply["mask_shape"]) == (["q", "k", "lse", "allowed"], [3, 4])
        assert np.array_equal(np.frombuffer(buffers[-1], np.uint8).reshape(3, 4), allowed[head])
    page = Page([Trace.of(q, k, mask=el.Window(1, align="start"), queries=list("abc"), keys=list("ABCD"))])
    reply, buffers = page.answer({"id": 0, "kind": "head", "trace": 0, "layer": 0, "head": 1})
    assert (reply["arrays"], reply["mask_shape"]) == (["q", "k", "lse", "bounds"], [3, 1, 2])
    assert np.frombuffer(buffers[-1], "<i4").tolist() == [0, 2, 0, 3, 1, 4]


def test_pictures_are_the_traces_own(page):
    asked = {"id": 1, "kind": "picture", "trace": 0, "layer": 4, "head": 9}
    reply, (buffer,) = page.answer({**asked, "queries": [1, 6], "keys": [0, 7], "rows": 5, "columns": 3})
    assert reply == {"id": 1, "kind": "picture", "shape": [5, 3]}
    want = page.traces[0].pooled(4, 9, (1, 6), (0, 7), 5, 3)
    assert np.array_equal(np.frombuffer(buffer, "<f4").reshape(5, 3), want)
    reply, (small, most) = page.answer({"id": 2, "kind": "overview", "trace": 0})
    assert reply == {"id": 2, "kind": "overview", "shape": [6, 12, 7, 7]}
    shown = (
        np.frombuffer(most, "<f4").reshape(6, 12, 1, 1) * (np.frombuffer(small, "u1").reshape(6, 12, 7, 7) / 255) ** 2
    )
    assert np.abs(shown[4, 9] - page.traces[0].weights(4, 9)).max() < 0.004


HEAD = {"id": 1, "kind": "head", "trace": 0, "layer": 0, "head": 0}
PICTURE = {**HEAD, "kind": "picture", "queries": [0, 7], "keys": [0, 7], "rows": 2, "columns": 2}


@pytest.mark.parametrize(
    ("request_", "argument", "says"),
    [
        ([], "request", "request must be an object, got list"),
        ({**HEAD, "id": "1"}, "id", "id must be a number, got '1'"),
        ({**HEAD, "id": math.nan}, "id", "id must be a number, got nan"),
        (
            {**HEAD, "kind": "masses"},
            "kind",
            "kind must be one of changes, edited, effects, head, .*, got 'masses'",
        ),
        ({**HEAD, "kind": ["head"]}, "kind", "kind must be one of"),
        ({**HEAD, "trace": 1}, "trace", "trace must be a whole number from 0 to 0, got 1"),
        ({**HEAD, "trace": -1}, "trace", "trace must be a whole number from 0 to 0, got -1"),
        ({**HEAD, "layer": 6}, "layer", "layer must be a whole number from 0 to 5, got 6"),
        ({**HEAD, "layer": 1.5}, "layer", "layer must be a whole number from 0 to 5, got 1.5"),
        ({**HEAD, "layer": True}, "layer", "layer must be a whole number"),
        ({**HEAD, "head": "mean"}, "head", "head must be a whole number from 0 to 11, got 'mean'"),
        ({**HEAD, "head": None}, "head", "head must be a whole number from 0 to 11, got None"),
        ({**PICTURE, "queries": [0, 8]}, "queries", r"queries must be \[first, last\) within 0 to 7, got \[0, 8\]"),
        ({**PICTURE, "queries": "07"}, "queries", "queries must be"),
        ({**PICTURE, "keys": [3, 3]}, "keys", r"keys must be \[first, last\) within 0 to 7, got \[3, 3\]"),
        ({**PICTURE, "keys": [0, [7]]}, "keys", "keys must be"),
        ({**PICTURE, "rows": 8}, "rows", "rows must be a whole number from 1 to 7, got 8"),
        ({**PICTURE, "columns": 0}, "columns", "columns must be a whole number from 1 to 7, got 0"),
    ],
)
def test_a_request_that_cannot_be_answered_says_which_part(page, request_, argument, says):
    with pytest.raises(RequestError, match=says) as caught:
        page.answer(request_)
    assert caught.value.argument == argument
    reply = caught.value.reply(request_)
    assert reply["error"] == {"argument": argument, "message": str(caught.value)}
    assert plain(reply)


def test_a_picture_too_large_to_send_is_refused():
    words = ["w"] * 1100
    q = np.zeros((1, 1, 1100, 1))
    page = Page([Trace.of(q, q, queries=words)])
    whole = {**PICTURE, "queries": [0, 1100], "keys": [0, 1100]}
    with pytest.raises(RequestError, match=r"rows × columns must be at most 1048576, got 1100 × 1100"):
        page.answer({**whole, "rows": 1100, "columns": 1100})
    _, (buffer,) = page.answer({**whole, "rows": 1024, "columns": 1024})
    assert buffer.nbytes == 4 << 20


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(sorted(PICTURE)), ANYTHING), st.sampled_from(("head", "picture", "overview")))
def test_no_request_is_an_error_of_ours(page, changed, kind):
    request = {**PICTURE, "kind": kind, **changed}
    try:
        reply, buffers = page.answer(request)
    except RequestError as error:
        reply, buffers = error.reply(request), []
    assert plain(reply)
    assert all(isinstance(buffer, memoryview) for buffer in buffers)


def keys_of(value) -> set[str]:
    """All keys of all objects within."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def test_the_format_names_every_key(page):
    named = set(re.findall(r"`([a-z_]+)`", DOCS.read_text("utf-8")))
    assert keys_of(page.header()) - named == set()
    for kind in ("head", "overview", "picture"):
        reply, _ = page.answer({**PICTURE, "kind": kind})
        assert set(reply) - named - {"id", "kind"} == set()
        assert set(reply.get("arrays", ())) - named == set()


def test_what_was_generated_begins_after_the_prompt(tiny_model):
    tokens = tiny_model.tokens("the cat ran")
    said = tiny_model.continuation(tokens)
    for step in tiny_model.generate(tokens.ids, 2):
        said.add(step.id)
    header = Page([record_tokens(tiny_model, said.tokens, prompt=len(tokens))]).header()
    line = header["traces"][0]["queries"]
    assert line["text"] == said.tokens.text
    assert line["text"].startswith("the cat ran")
    assert (line["prompt"], len(line["ids"])) == (len(tokens), len(tokens) + 2)
    assert header["traces"][0]["kind"] == "decoder"
    assert line["aside"][0] == 0
    assert header["traces"][0]["layers"][0]["mask"] == {"kind": "causal"}

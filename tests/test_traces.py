"""Traces: what a run leaves, and any part of its weights had again from it, as the reference has it."""

from __future__ import annotations

import numpy as np
import pytest
from answers import Blocks, weights_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import masks, sizes
from tiny import save_decoder

import eyeline as el
from eyeline import reference
from eyeline.masks import AttentionShape
from eyeline.models import load
from eyeline.models.units import units_of
from eyeline.traces import Cancelled, Trace, TraceError, load_trace, record, record_tokens
from eyeline.views.page import Page
from eyeline.views.page.file import page_file

TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def minilm():
    return load("minilm")


@pytest.fixture(scope="module")
def trace(minilm):
    return record(TEXT, model=minilm)


@st.composite
def arrays(draw):
    """q, k, v, a mask or none, a scale or none, and the words of both lines."""
    N, G, repeat, L = draw(sizes(61)), draw(st.sampled_from((1, 2))), draw(st.sampled_from((1, 1, 3))), 2
    M = draw(st.one_of(st.just(N), sizes(61)))
    D, E = draw(st.sampled_from((1, 3, 8, 17))), draw(st.sampled_from((0, 1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, k = (rng.standard_normal((L, heads, n, D)) for heads, n in ((G * repeat, N), (G, M)))
    mask = draw(st.one_of(st.none(), masks(AttentionShape((1,), G * repeat, N, M))))
    words = [f"w{place}" for place in range(max(N, M))]
    keys = words[:M] if N != M or draw(st.booleans()) else None
    return {
        "arrays": (q, k, rng.standard_normal((L, G, M, E)) if E else None),
        "mask": mask,
        "scale": draw(st.sampled_from((None, 1.0, 0.0, -0.5))),
        "lines": (words[:N], keys),
    }


def made(case) -> Trace:
    queries, keys = case["lines"]
    return Trace.of(*case["arrays"], mask=case["mask"], scale=case["scale"], queries=queries, keys=keys)


def as_reference(case, layer: int) -> el.Observation:
    q, k, _ = (None if x is None else x[layer].astype(np.float32).astype(np.float64) for x in case["arrays"])
    read = [el.Weights(), el.Entropy(), el.GroupMass(np.full(k.shape[1], -1), 1)]
    read += [el.MeanDistance()] if q.shape[1] == k.shape[1] else []
    return reference.observe(q, k, k, mask=case["mask"], scale=case["scale"], read=read)


@given(arrays(), st.data())
def test_any_part_of_the_weights_is_the_references(case, data):
    trace = made(case)
    H, N, M = trace.model.heads, len(trace.queries), len(trace.across)
    head = data.draw(st.integers(0, H - 1))
    want = as_reference(case, 1).weights[head]
    rows, columns = (
        data.draw(st.one_of(st.none(), st.integers(-n, n - 1), st.lists(st.integers(-n, n - 1), max_size=4)))
        for n in (N, M)
    )
    part = want[el.Weights(rows).rows(N)][:, el.Weights(columns).rows(M)]
    got = trace.weights(1, head, rows, columns)
    assert got.shape == part.shape
    np.testing.assert_allclose(got, part, atol=1e-5)
    (top, bottom), (first, last) = (
        sorted(data.draw(st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True))) for n in (N, M)
    )
    shape = data.draw(st.integers(1, bottom - top)), data.draw(st.integers(1, last - first))
    region = want[top:bottom, first:last]
    down, across = (np.arange(size + 1) * n // size for size, n in zip(shape, region.shape, strict=True))
    cells = np.add.reduceat(np.add.reduceat(region, down[:-1], axis=0), across[:-1], axis=1)
    cells /= np.diff(down)[:, None] * np.diff(across)
    np.testing.assert_allclose(trace.pooled(1, head, (top, bottom), (first, last), *shape), cells, atol=1e-5)


@given(arrays())
def test_measures_are_means_over_the_queries_that_may_look(case):
    trace = made(case)
    for layer in range(2):
        want = as_reference(case, layer)
        looking = want.lse > -np.inf
        named = {"entropy": want.entropy, "distance": want.mean_distance if trace.keys is None else None}
        for name, values in named.items():
            if values is None:
                assert getattr(trace.measures, name) is None
                continue
            mean = np.where(looking, values, 0).sum(axis=1) / np.maximum(looking.sum(axis=1), 1)
            np.testing.assert_allclose(getattr(trace.measures, name)[layer], mean, rtol=1e-4, atol=1e-4)
        H, (R, C) = trace.model.heads, trace.measures.pictures.shape[2:]
        for head in range(H):
            most = trace.measures.most[layer, head]
            shown = most * (trace.measures.pictures[layer, head] / 255.0) ** 2
            np.testing.assert_allclose(shown, trace.pooled(layer, head, rows=R, columns=C), atol=most / 200 + 1e-6)


@given(arrays())
def test_the_page_has_the_references_weights_from_its_host_and_from_its_file(case):
    trace = made(case)
    page = Page([trace])
    whole, half = (Blocks(page_file(page, half=half)) for half in (False, True))
    for layer in range(2):
        want = as_reference(case, layer)
        looking = want.lse > -np.inf
        for head in range(trace.model.heads):
            np.testing.assert_allclose(weights_of(page, 0, layer, head), want.weights[head], atol=1e-5)
            np.testing.assert_allclose(whole.weights(0, layer, head), want.weights[head], atol=1e-5)
            rounded = half.weights(0, layer, head)
            np.testing.assert_allclose(rounded, want.weights[head], atol=0.03)
            np.testing.assert_allclose(rounded.sum(axis=1), looking[head], atol=1e-5)


@given(arrays())
def test_a_saved_trace_is_the_same_to_the_bit(tmp_path_factory, case):
    trace = made(case)
    file = tmp_path_factory.mktemp("trace") / "trace.safetensors"
    trace.save(file)
    again = load_trace(file)
    assert (again.name, again.model, again.kind) == (trace.name, trace.model, trace.kind)
    assert (again.queries, again.keys) == (trace.queries, trace.keys)
    for old, new in zip(trace.layers, again.layers, strict=True):
        assert (old.scale, old.allowed.kind) == (new.scale, new.allowed.kind)
        pairs = [(old.q, new.q), (old.k, new.k), (old.v, new.v), (old.lse, new.lse)]
        for mine, other in [*pairs, (old.allowed.array, new.allowed.array)]:
            assert (mine is None) == (other is None)
            if mine is not None:
                assert np.array_equal(mine, other)
    head = trace.model.heads - 1
    assert np.array_equal(trace.weights(0, head), again.weights(0, head))
    assert Page([trace]).header() == Page([again]).header()


def test_a_traces_weights_are_those_of_the_run(minilm, trace):
    run = minilm.run([minilm.tokens(TEXT).ids], weights=True)
    for layer, kept in enumerate(run.layers):
        for head in range(12):
            # A trace's weights come from lse in float32, whose last digit is 1e-6 and more above 8.
            assert np.abs(trace.weights(layer, head) - kept.weights[0, head]).max() < 2e-6


def test_grouped_heads_and_windows_of_a_decoder(tmp_path):
    model = load(save_decoder(tmp_path, model_type="mistral", sliding_window=3))
    trace = record("the cat and the fox fly over a cat", model=model)
    assert trace.kind == "decoder"
    assert [layer.allowed.kind for layer in trace.layers] == ["bounds"] * 3
    assert trace.layers[0].allowed is trace.layers[2].allowed
    run = model.run([model.tokens("the cat and the fox fly over a cat").ids], weights=True)
    for head in range(4):
        assert np.abs(trace.weights(2, head) - run.layers[2].weights[0, head]).max() < 1e-6
    assert trace.queries.aside[0] == 0  # the first word, which takes what heads have no other use for


def test_parts_of_a_mask_with_holes_are_its_own():
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((1, 2, 9, 4)), rng.standard_normal((1, 2, 11, 4))
    allowed = rng.random((2, 9, 11)) < 0.5
    words = [str(place) for place in range(11)]
    trace = Trace.of(q, k, mask=el.Dense(allowed), queries=words[:9], keys=words)
    assert trace.layers[0].allowed.kind == "bits"
    want = reference.observe(q[0], k[0], k[0], mask=el.Dense(allowed), read=el.Weights()).weights
    for head in range(2):
        np.testing.assert_allclose(trace.weights(0, head, [7, 2], slice(4, 9)), want[head][[7, 2], 4:9], atol=1e-5)
        part = trace.pooled(0, head, (3, 8), (5, 11), 5, 6)
        np.testing.assert_allclose(part, want[head, 3:8, 5:11], atol=1e-5)


def test_a_run_is_named_by_what_was_changed(minilm, tmp_path):
    assert record(TEXT, model=minilm).name == "as trained"
    both = record(TEXT, model=minilm, mask="causal", scale=1.0)
    assert (both.name, both.layers[0].scale, both.layers[0].allowed.kind) == ("causal, without ÷ √d", 1.0, "causal")
    decoder = load(save_decoder(tmp_path))
    assert record("the cat", model=decoder, mask="causal").name == "as trained"  # it looks only back as it is


def test_places_are_those_of_the_units(minilm):
    text = "Thời gian 👨‍👩‍👧 trôi; cafe\u0301 \U0001f1fb\U0001f1f3!"
    tokens = minilm.tokens(text)
    entry = record_tokens(minilm, tokens).queries.entry()
    wide = text.encode("utf-16-le")
    shown = [wide[2 * start : 2 * end].decode("utf-16-le") for _, _, start, end in entry["words"] if start >= 0]
    units = units_of(tokens, pieces=False)
    assert shown == [unit.text for unit in units if unit.span is not None]
    assert [word[:2] for word in entry["words"]] == [[u.tokens[0], u.tokens[-1] + 1] for u in units]
    assert entry["aside"] == [place for place, unit in enumerate(units) if unit.extra]


def test_it_is_given_up_between_layers(minilm):
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) == 3

    said = []
    with pytest.raises(Cancelled):
        record(TEXT, model=minilm, cancelled=cancelled, progress=said.append)
    assert said == ["minilm: layer 1 of 6", "minilm: layer 2 of 6"]


@pytest.mark.parametrize(
    ("text", "asked", "says"),
    [
        ("", {}, r"^text must have at least one word, got ''"),
        (" \n", {}, "^text must have at least one word"),
        ("\u200b", {}, "which has none"),
        (3, {}, "^text must be a string, got int"),
        (TEXT, {"scale": float("nan")}, "^scale must be a finite number, got nan"),
        (TEXT, {"mask": "past"}, "^mask must be 'causal' or a mask of eyeline, got 'past'"),
    ],
)
def test_what_cannot_be_recorded_is_said(minilm, text, asked, says):
    with pytest.raises(TraceError, match=says):
        record(text, model=minilm, **asked)


ONE = np.zeros((1, 2, 3, 4))


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        (
            (ONE[0], ONE, None, list("abc"), None),
            r"^q must be \(layers, heads, tokens, width\).* q\[None\] is one layer",
        ),
        ((ONE.astype(int), ONE, None, list("abc"), None), "^q must be an array of floating-point numbers, got int64"),
        ((ONE, ONE[:, :, :0], None, list("abc"), []), "^k must be .* at least one of each"),
        ((ONE, np.zeros((1, 2, 3, 5)), None, list("abc"), None), "^k must have q's width, 4"),
        ((ONE, np.zeros((1, 3, 3, 4)), None, list("abc"), None), "^k must have as many heads as q, 2"),
        ((ONE, np.zeros((2, 2, 3, 4)), None, list("abc"), None), "^k must have q's batch"),
        ((ONE, ONE, ONE[:, :, :2], list("abc"), None), "^v must have k's heads and tokens"),
        ((ONE, ONE * np.nan, None, list("abc"), None), r"^k must be finite in float32, got nan at \(0, 0, 0, 0\)"),
        ((ONE + 1e300, ONE, None, list("abc"), None), "^q must be finite in float32, got inf"),
        ((ONE, ONE, None, list("ab"), None), "^queries must be 3 words, one for each token of q, got 2"),
        ((ONE, ONE[:, :, :2], None, list("abc"), None), "^keys must be 2 words.* give keys= too"),
        ((ONE, ONE, None, "abc", None), "^queries must be a list of strings"),
        ((ONE, ONE, None, ["a", "b", 3], None), "^queries must be a list of strings"),
        ((ONE, ONE, None, ["a", "b", "\ud800"], None), "^queries must be valid Unicode"),
    ],
)
def test_arrays_that_are_no_trace_are_refused(given_, says):
    q, k, v, queries, keys = given_
    with pytest.raises(TraceError, match=says):
        Trace.of(q, k, v, queries=queries, keys=keys)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda t: t.weights(6, 0), "^layer must be from 0 to 5, got 6"),
        (lambda t: t.weights(True, 0), "^layer must be from 0 to 5, got True"),
        (lambda t: t.weights(0, -1), "^head must be from 0 to 11, got -1"),
        (lambda t: t.weights(0, 0, 7), "^queries must be positions from -7 to 6, got 7"),
        (lambda t: t.pooled(0, 0, (3, 3)), r"^queries must be \[first, last\) within 0 to 7, got \(3, 3\)"),
        (lambda t: t.pooled(0, 0, keys=(0, 8)), r"^keys must be \[first, last\) within 0 to 7, got \(0, 8\)"),
        (lambda t: t.pooled(0, 0, (0, 2), rows=3), "^rows must be a whole number from 1 to 2"),
    ],
)
def test_parts_that_are_not_there_are_refused(trace, ask, says):
    with pytest.raises(TraceError, match=says):
        ask(trace)


def test_public_names_are_there(trace):
    assert (el.record, el.load_trace, el.Trace) == (record, load_trace, Trace)
    assert el.view(trace).traces == [trace]
    assert [one.name for one in el.view(TEXT, mask="causal").traces] == ["as trained", "causal"]
    with pytest.raises(TraceError, match="shown must be a text"):
        el.view([])

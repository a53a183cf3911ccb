"""Projections: q, k and v are the model's matrices times what went into them, and what attention adds is added."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tiny import save_decoder

from eyeline.answers import explain
from eyeline.models import load
from eyeline.models.decoder import Decoder, RootMeanSquareNorm
from eyeline.models.encoder import Encoder
from eyeline.traces import Trace, TraceError, load_trace, record, record_tokens
from eyeline.traces.keep import Keep
from eyeline.views.page import Page
from eyeline.views.page.file import page_file
from eyeline.views.page.requests.request import RequestError
from eyeline.views.viewing import view

TEXT = "time flies like an arrow"
WITHIN = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module")
def minilm():
    return load("minilm")


@pytest.fixture(scope="module")
def trace(minilm):
    return record(TEXT, model=minilm, keep=["input", "L0H3", "L5H2"])


def check_all(trace: Trace) -> None:
    """That q, k and v of all heads are their projections of x, and all heads' outputs what is added."""
    positions, places = np.arange(len(trace.queries)), np.arange(len(trace.across))
    for number, layer in enumerate(trace.layers):
        found = [trace.projections(number, head) for head in range(trace.model.heads)]
        total = 0 if found[0].b_o is None else found[0].b_o.astype(float)
        for head, one in enumerate(found):
            group = trace.key_head(head)
            np.testing.assert_allclose(one.query(one.x, positions), layer.q[head], **WITHIN)
            np.testing.assert_allclose(one.key(one.keys_x, places), layer.k[group], **WITHIN)
            np.testing.assert_allclose(one.value(one.keys_x), layer.v[group], **WITHIN)
            part = trace.weights(number, head).astype(float) @ layer.v[group] @ one.W_o.T
            np.testing.assert_allclose(np.linalg.norm(part, axis=-1), one.lengths[head], **WITHIN)
            total = total + part
        np.testing.assert_allclose(found[0].added, total, **WITHIN)


def test_an_encoders_numbers_are_the_traces(trace):
    check_all(trace)


def test_what_is_added_goes_into_the_norm(minilm, trace):
    assert isinstance(minilm.network, Encoder)
    states = minilm.run([minilm.tokens(TEXT).ids]).hidden_states
    for number, block in enumerate(minilm.network.blocks):
        found = trace.projections(number, 0)
        assert (found.norm_before, found.norm_after) == (None, "LayerNorm")
        assert found.residual is found.x
        np.testing.assert_array_equal(found.x, states[number][0])
        normed = block.attended_norm((found.residual + found.added)[None])
        after = block.output_norm(block.output(block.inner(normed), residual=normed))
        np.testing.assert_allclose(after[0], states[number + 1][0], **WITHIN)


def test_the_first_input_is_the_normed_sum_of_its_embeddings(minilm, trace):
    found = trace.projections(0, 3)
    normed = minilm.network.embeddings.norm((found.words + found.positions)[None])
    np.testing.assert_allclose(normed[0], found.x, **WITHIN)
    assert trace.projections(1, 3).words is None


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_a_decoders_numbers_are_the_traces_grouped_turned_and_normed(tmp_path, kind):
    model = load(save_decoder(tmp_path, model_type="llama"))
    assert isinstance(model.network, Decoder)
    if kind == "qwen3":
        random = np.random.default_rng(1)
        for block in model.network.blocks:
            for name in ("query_norm", "key_norm"):
                weight = random.uniform(0.5, 2, model.config.head_dim).astype(np.float32)
                object.__setattr__(block, name, RootMeanSquareNorm(weight, 1e-5))
    trace = record_tokens(model, model.tokens(TEXT), keep=Keep(input=True))
    check_all(trace)
    found = trace.projections(1, 3)
    assert (found.norm_before, found.norm_after) == ("RMSNorm", None)
    assert (found.q_norm is not None) == (kind == "qwen3")
    state = model.run([model.tokens(TEXT).ids]).hidden_states[1][0]
    np.testing.assert_array_equal(found.residual, state)
    np.testing.assert_allclose(model.network.blocks[1].attention_norm(state), found.x, **WITHIN)


def test_an_encoder_decoders_numbers_are_the_traces_in_each_part(tmp_path):
    traces = record("3rd of March, 2021", model="dates", keep=["input"])
    assert [trace.kind for trace in traces] == ["encoder", "decoder", "cross"]
    for trace in traces:
        check_all(trace)
    encoder, decoder, cross = (trace.projections(0, 1) for trace in traces)
    for found in (encoder, decoder):
        np.testing.assert_allclose(found.words + found.positions, found.x, **WITHIN)
    assert (cross.words, encoder.norm_embedded, cross.norm_after) == (None, None, "LayerNorm")
    assert cross.keys_x.shape[0] == len(traces[0].queries)
    for trace in record("3rd of March, 2021", model="dates", keep=["vectors", "L1H2"]):
        trace.save(tmp_path / "part.safetensors")
        ours, theirs = (vars(one.projections(1, 2)) for one in (trace, load_trace(tmp_path / "part.safetensors")))
        for name, value in ours.items():
            np.testing.assert_array_equal(theirs[name], value, err_msg=name)


def test_generated_text_has_its_inputs_too(tmp_path):
    model = load(save_decoder(tmp_path))
    trace = explain(TEXT, generate=4, model=model, keep=["input"]).traces[0]
    assert len(trace.queries) == len(model.tokens(TEXT)) + 4
    check_all(trace)


def test_a_trace_that_kept_nothing_says_what_to_do(minilm):
    with pytest.raises(TraceError, match=r'trace must have its layers\' inputs .* record it with keep=\["input"\]'):
        record(TEXT, model=minilm).projections(0, 0)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["L6H0"], "keep must name heads from L0H0 to L5H11, got 'L6H0'"),
        (["l0h3"], "keep must name heads from L0H0 to L5H11, got 'l0h3'"),
        (["inputs"], "keep must name heads from L0H0 to L5H11, got 'inputs'"),
        (["L0H٣"], "keep must name heads from L0H0 to L5H11, got 'L0H٣'"),
        ("input", "keep must be a list of names, got 'input'"),
        (None, "keep must be a list of names, got None"),
        (3, "keep must be a list of names, got 3"),
    ],
)
def test_names_to_keep_are_checked(minilm, keep, message):
    with pytest.raises(TraceError, match=message):
        record(TEXT, model=minilm, keep=keep)


def test_a_page_s_names_to_keep_are_checked(trace, tmp_path):
    for keep in ("L0H3", None):
        with pytest.raises(TraceError, match=f"keep must be a list of names, got {keep!r}"):
            view(trace).save(tmp_path / "page.html", keep=keep)


# The trace file


def test_a_file_has_the_inputs_and_the_named_heads(trace, tmp_path):
    trace.save(tmp_path / "a.safetensors")
    back = load_trace(tmp_path / "a.safetensors")
    for place in [(0, 3), (5, 2)]:
        ours, theirs = vars(trace.projections(*place)), vars(back.projections(*place))
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            np.testing.assert_array_equal(theirs[name], value, err_msg=name)
    with pytest.raises(TraceError, match=r"the trace has \(L0H3, L5H2\), got L1H1; record it with keep=\[\"L1H1\"\]"):
        back.projections(1, 1)


def test_a_decoders_file_has_its_norms_and_turns(tmp_path):
    model = load(save_decoder(tmp_path))
    trace = record_tokens(model, model.tokens(TEXT), keep=Keep(input=True, heads=((2, 1),)))
    trace.save(tmp_path / "a.safetensors")
    ours, theirs = (vars(one.projections(2, 1)) for one in (trace, load_trace(tmp_path / "a.safetensors")))
    for name, value in ours.items():
        np.testing.assert_array_equal(theirs[name], value, err_msg=name)
    assert ours["residual"] is not ours["x"]


@pytest.mark.parametrize("make", ["minilm", "decoder"])
def test_vectors_that_a_file_has_are_not_stored_again(minilm, tmp_path, make):
    model = minilm if make == "minilm" else load(save_decoder(tmp_path))
    keep = Keep(input=True, heads=((1, 1),), measures=True)
    with_, without = (
        record_tokens(model, model.tokens(TEXT), keep=replace(keep, vectors=one)) for one in ("all", None)
    )
    sizes = {}
    for name, trace in (("with", with_), ("without", without)):
        trace.save(tmp_path / name)
        sizes[name] = {key: array.nbytes for key, array in load_file(tmp_path / name).items()}
        ours, theirs = (vars(one.projections(1, 1)) for one in (trace, load_trace(tmp_path / name)))
        for key, value in ours.items():
            np.testing.assert_array_equal(theirs[key], value, err_msg=key)
    again = "x" if make == "minilm" else "residual"
    assert sizes["without"].keys() - sizes["with"].keys() == {f"inputs.{n}.{again}" for n in range(trace.model.layers)}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"width": 5}, r"inputs.0.x must be F32 of shape \(7, 5\)"),
        ({"heads": [[6, 0]]}, r"inputs.heads must be pairs of a layer below 6 and a head below 12"),
        ({"heads": [[0, 4]]}, r"must have an array matrices.L0H4.W_q, got none"),
        ({"of_vectors": True}, r"inputs.of_vectors must be false where the file doesn't have all tokens' vectors"),
        ({"norm_after": 3}, r"inputs.norm_after must be a string"),
        ({"epsilon": None}, r"inputs.epsilon must be a finite number"),
    ],
)
def test_a_damaged_files_inputs_are_refused(trace, tmp_path, entry, message):
    path = tmp_path / "a.safetensors"
    trace.save(path)
    data = path.read_bytes()
    about = json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["eyeline"])
    about["inputs"] |= entry
    save_file(load_file(path), tmp_path / "b.safetensors", {"eyeline": json.dumps(about)})
    with pytest.raises(TraceError, match=message):
        load_trace(tmp_path / "b.safetensors")


# The page


def arrays(reply, buffers):
    """The arrays of a reply, by name."""
    kinds = dict.fromkeys(reply["arrays"], "<f2" if reply["dtype"] == "float16" else "<f4")
    kinds |= {"lengths": "<f4", "rotary": "<f4"}
    named = zip(reply["arrays"], buffers, strict=True)
    return {name: np.frombuffer(data, kinds[name]).reshape(reply["shapes"][name]) for name, data in named}


def test_a_page_is_told_every_heads_projections(trace):
    page = Page([trace])
    assert page.header()["traces"][0]["projections"] == "all"
    request = {"id": 1, "kind": "projections", "trace": 0, "layer": 5, "head": 2}
    reply, buffers = page.answer(request)
    found, want = arrays(reply, buffers), trace.projections(5, 2)
    assert set(found) == {
        *("x", "added", "lengths", "W_q", "b_q", "W_k", "b_k", "W_v", "b_v", "W_o", "b_o"),
    }
    for name, array in found.items():
        np.testing.assert_array_equal(array, getattr(want, name))
    assert (reply["norm_before"], reply["norm_after"], reply["bias_length"]) == (None, "LayerNorm", want.bias_length)
    half = arrays(*page.answer({**request, "dtype": "float16"}))
    np.testing.assert_allclose(half["W_q"], want.W_q, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(half["lengths"], want.lengths)
    assert sum(half[name].nbytes for name in ("W_q", "W_k", "W_v", "W_o")) == 98304


def test_a_page_without_them_says_so(minilm):
    page = Page([record(TEXT, model=minilm)])
    assert page.header()["traces"][0]["projections"] is None
    with pytest.raises(RequestError, match="trace must have its layers' inputs"):
        page.answer({"id": 1, "kind": "projections", "trace": 0, "layer": 0, "head": 0})


def stored(data: bytes) -> set[str]:
    """The blocks of projections that a file has."""
    ids = [part.split(b'"', 1)[0].decode() for part in data.split(b'id="eyeline-')[1:]]
    return {name for name in ids if name.startswith("projections-")}


def test_a_file_has_the_head_that_it_opens_on_and_the_named(minilm):
    page = view(TEXT, model=minilm, state={"layer": 5, "head": 2})
    assert stored(page_file(page)) == {"projections-0-5-2"}
    assert stored(page_file(page, keep=["L0H3", "L5H2"])) == {"projections-0-0-3", "projections-0-5-2"}
    assert len(page_file(page)) < 700_000
    assert stored(page_file(view(TEXT, model=minilm))) == {"projections-0-5-11"}
    assert stored(page_file(view(TEXT, model=minilm, state={"head": "mean"}))) == set()
    assert stored(page_file(view(TEXT, model=minilm, state={"head": "mean"}, keep=["L1H1"]))) == {"projections-0-1-1"}
    with pytest.raises(TraceError, match=r"keep must name heads whose projections were recorded, got L0H3"):
        page_file(Page([record(TEXT, model=minilm)]), keep=["L0H3"])
    with pytest.raises(TraceError, match=r"keep must name heads from L0H0 to L5H11, got 'H3'"):
        page_file(page, keep=["H3"])


@pytest.mark.parametrize("wrong", [{"trace": 5}, {"layer": 6}, {"layer": -1}, {"head": 12}, {"head": True}])
def test_a_file_whose_state_names_a_head_that_is_not_there_has_no_head_s(minilm, wrong):
    page = Page([record(TEXT, model=minilm, keep=["input"])], {"trace": 0, "layer": 5, "head": 2, **wrong})
    assert stored(page_file(page)) == set()


# explain --steps


def test_steps_have_one_more_before_and_after(minilm):
    answer = explain(TEXT, "flies", steps=True, layer=5, head=2, model=minilm)
    made = answer.document()["runs"][0]["steps"]["projections"]
    trace = answer.traces[0]
    found = trace.projections(5, 2)
    want = {
        "width": 384,
        "input": "layer",
        "norm_before": None,
        "x_length": np.linalg.norm(found.x[2]),
        "query": trace.layer(5).q[2, 2],
        "query_bias": True,
        "head_norms": False,
        "rotary": False,
        "joined": 384,
        "first": 64,
        "last": 96,
        "part_length": found.lengths[2, 2],
        "bias_length": np.linalg.norm(found.b_o),
        "added_length": np.linalg.norm(found.added[2]),
        "residual_length": np.linalg.norm(found.x[2]),
        "sum_length": np.linalg.norm((found.x + found.added)[2]),
        "norm_after": "LayerNorm",
    }
    assert made.keys() == want.keys()
    for name, value in want.items():
        if isinstance(value, (str, bool)) or value is None:
            assert made[name] == value
        else:
            np.testing.assert_allclose(made[name], value, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("width", [60, 80])
def test_the_terminal_says_them(minilm, width):
    from eyeline.views.explanation_terminal import explanation
    from eyeline.views.ink import Ink

    answer = explain(TEXT, "flies", steps=True, layer=5, head=2, model=minilm)
    lines = [line for text in explanation(answer, Ink("utf-8", width)) for line in text.plain.splitlines()]
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    made = answer.steps.projections
    assert f"384 numbers, of length {made.x_length:.2f}. q = W_q·x + b, where W_q has 32 × 384 numbers: q = [" in text
    assert "The 12 heads' new vectors side by side are 384 numbers; 64 to 95 are H2's. W_o, 384 × 384," in text
    lengths = {
        "its vector before (the residual)": made.residual_length,
        "what all heads and the bias add": made.added_length,
        "H2's part of it": made.part_length,
        "the sum": made.sum_length,
    }
    longest = max(lengths.values())
    whole = max(line.count("█") for line in lines if line.strip().startswith(tuple(lengths)))
    for name, length in lengths.items():
        line = next(line for line in lines if line.strip().startswith(name))
        assert f"{length:.2f}" in line
        assert abs(line.count("█") - whole * length / longest) <= 1

"""`--html`: the page that a command writes shows what was asked for."""

from __future__ import annotations

import pytest
from answers import Blocks
from tiny import save_decoder

import eyeline as el

FLIES = "time flies like an arrow"
BANANA = "fruit flies like a banana"


@pytest.fixture
def page(say, tmp_path):
    """What a command prints, and the page that it writes."""

    def write(*arguments):
        target = tmp_path / "page.html"
        code, out, err = say(*arguments, "--html", str(target))
        assert (code, err.splitlines()[-1]) == (0, f"wrote {target}")
        assert [path.name for path in tmp_path.glob("*.html")] == ["page.html"]
        return out, Blocks(target.read_bytes())

    return write


def test_it_opens_with_the_token_layer_and_head_that_were_asked_for(say, page):
    asked = ("explain", FLIES, "--token", "flies", "--layer", "2", "--head", "6")
    out, blocks = page(*asked)
    assert out == say(*asked)[1]  # besides what is printed
    state = blocks.header["state"]
    assert {name: state[name] for name in ("view", "trace", "layer", "head", "token", "unit", "special")} == {
        "view": "sentence",
        "trace": 0,
        "layer": 2,
        "head": 6,
        "token": 2,  # [CLS] time flies
        "unit": "words",
        "special": "grey",
    }
    assert [trace["name"] for trace in blocks.header["traces"]] == ["as trained"]
    found = el.explain(FLIES, "flies", layer=2, head=6)
    weights = blocks.weights(0, 2, 6)[2, 1:6]
    assert weights / weights.sum() == pytest.approx(found.shares, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "opens"),
    [
        ((), (3, 5, 11)),
        (("--layer", "2"), (3, 2, 8)),
        (("--token", "flies"), (2, 5, 11)),
        (("--token", "flies", "--layer", "2"), (2, 2, 8)),
        (("--layer", "2", "--head", "6"), (None, 2, 6)),
        (("--head", "6"), (None, 5, 6)),
    ],
)
def test_without_a_head_it_opens_at_the_telling_one(page, options, opens):
    _, blocks = page("explain", FLIES, "--pieces", "--special", *options)
    state, opening = blocks.header["state"], blocks.header["opening"]
    assert (state["token"], state["layer"], state["head"]) == opens
    assert (state["unit"], state["special"]) == ("pieces", "shown")
    assert opening == (None if "--head" in options else opening | {"layer": opens[1], "head": opens[2]})


def test_steps_open_at_the_head_that_is_printed(page):
    _, blocks = page("explain", FLIES, "--token", "flies", "--steps")
    found = el.explain(FLIES, "flies", steps=True)
    assert (blocks.header["state"]["view"], blocks.header["state"]["head"]) == ("steps", found.steps.head)


def test_what_is_changed_is_a_second_trace(page):
    _, blocks = page("explain", FLIES, "--token", "flies", "--mask", "causal", "--no-scale")
    first, second = blocks.header["traces"]
    assert (first["name"], second["name"]) == ("as trained", "causal, without ÷ √d")
    assert {layer["mask"]["kind"] for layer in second["layers"]} == {"causal"}
    assert {layer["scale"] for layer in second["layers"]} == {1.0}
    assert blocks.header["state"]["other"] == [1, 5, 11]
    found = el.explain(FLIES, "flies", mask="causal", scale=1.0)
    heads = [blocks.weights(1, 5, head)[2] for head in range(12)]
    assert sum(heads)[1:6] / 12 == pytest.approx(found.runs[1].weights[1:6], abs=1e-5)


def test_half_keeps_float16(page):
    _, blocks = page("explain", FLIES, "--half")
    assert blocks.contents["dtype"] == "float16"


def test_keep_adds_heads_projections(say, page):
    _, blocks = page("explain", FLIES, "--layer", "2", "--head", "6", "--keep", "L0H3", "--keep", "L5H11")
    assert blocks.header["traces"][0]["projections"] == [[2, 6], [0, 3], [5, 11]]
    code, _, err = say("explain", FLIES, "--keep", "L0H3")
    assert (code, err) == (2, "eyeline: --keep must come with --html, whose page then has that head's projections\n")
    code, _, err = say("explain", FLIES, "--html", "page.html", "--keep", "H3")
    assert (code, err) == (2, "eyeline: keep must name heads from L0H0 to L5H11, got 'H3'\n")


def test_what_was_generated_is_on_the_page(page, tmp_path):
    folder = save_decoder(tmp_path)
    _, blocks = page("explain", "the cat", "--model", str(folder), "--generate", "3", "--mask", "causal")
    (trace,) = blocks.header["traces"]  # a decoder's tokens look only back as it is
    found = el.explain("the cat", model=folder, generate=3)
    assert trace["queries"]["text"] == found.text
    assert trace["queries"]["prompt"] == found.generated.prompt_tokens
    assert len(trace["queries"]["ids"]) == found.generated.prompt_tokens + len(found.generated.steps)


def test_a_comparison_opens_with_both_texts(page):
    _, blocks = page("compare", FLIES, BANANA, "--token", "flies", "--layer", "1")
    state = blocks.header["state"]
    assert (state["view"], state["trace"], state["layer"], state["token"]) == ("compare", 0, 1, 2)
    assert (state["other"], state["partner"]) == ([1, 1, "mean"], 2)
    assert [trace["queries"]["text"] for trace in blocks.header["traces"]] == [FLIES, BANANA]


def test_a_hostile_text_is_written_inert(page):
    text = "</script><img src=x onerror=alert(1)>"
    _, blocks = page("explain", text)
    assert blocks.header["title"] == text
    assert "<img" not in blocks.text

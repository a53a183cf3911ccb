"""`eyeline why`: its views, its options and mistakes."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import eyeline as el
from eyeline import words
from eyeline.edits import Gate
from eyeline.models import load
from eyeline.views.why_findings import round_up, signed
from eyeline.views.why_terminal import _bar

DOCS = Path(__file__).parent.parent / "docs" / "json.md"
FLIES = ("why", "time flies like an arrow", "--token", "flies", "--key", "time", "--layer", "5", "--head", "2")


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module", autouse=True)
def loaded_once(minilm):
    def once(name, progress=None):
        return minilm if name == "minilm" else load(name, progress=progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyeline.traces.folders.load", once)
        yield


@pytest.fixture(scope="module")
def found(minilm):
    return el.why(el.record("time flies like an arrow", model=minilm), 5, 2, "flies", "time")


def lists(out):
    """The bars of each list that a drawing has: names and numbers."""
    made, row = [], re.compile(r"  (\S.*?) +([+-][\d.]+)  ( *[▐█]*)│([█▌]*)")
    for block in out.split("\n\n"):
        if found := [row.fullmatch(line) for line in block.splitlines()]:
            bars = [(one[1], float(one[2]), len(one[3].strip()), len(one[4])) for one in found if one]
            made += [bars] if bars else []
    return made


def test_the_drawing_has_the_three_lists_and_their_sums(say, found):
    code, out, err = say(*FLIES)
    assert (code, err) == (0, "")
    assert "minilm · L5H2 of L0 to L5, H0 to H11 · as trained" in out
    assert "Why L5H2 looks from flies (#2) at time (#1)" in out
    assert f"is {found.score:+.3g}; the weight is {found.weight:.0%}" in out
    assert f"in place of the key's it would be {found.same_place:+.3g}." in " ".join(out.split())
    drawn = lists(out)
    assert [len(bars) for bars in drawn] == [9, 9, 9]
    for bars, values in zip(drawn, (found.by_query_source, found.by_key_source, found.table.ravel()), strict=True):
        largest = sorted(values.tolist(), key=lambda value: -abs(value))[:8]
        assert [value for _, value, *_ in bars[:8]] == [float(f"{value:.3g}") for value in largest]
        assert sum(value for _, value, *_ in bars) == pytest.approx(found.score, abs=0.02)
        assert bars[-1][0] == f"{values.size - 8} others"
        for _, value, left, right in bars:  # one scale, to ±5 in as many cells as the axis has
            assert (left > 0, right > 0) in {(value < 0, value > 0), (False, False)}
    assert drawn[2][0][0] == "L4 MLP × L3 MLP"
    assert re.search(r"-5 ─+ 0 ─+ 5", out)


def test_options_choose_what_is_drawn(say, tmp_path, found):
    code, out, _ = say(*FLIES, "--by-layer", "--top", "3", "--png", str(tmp_path / "a.png"))
    assert code == 0
    assert [len(bars) for bars in lists(out)] == [4, 4, 4]
    assert "L0 biases" in out
    assert "--by-layer" not in out
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = say("why", "time flies like an arrow", "--token", "#2")
    assert "Why L5H2 looks from flies (#2) at time (#1)" in out
    code, out, _ = say("why", "The capital of France is", "--token", "is", "--key", "France", "--model", "smollm2")
    assert "With both tokens at one place it would be" in " ".join(out.split())
    assert "rotary positions are no source" in " ".join(out.split())


def test_the_split_of_an_edited_run_says_so(say, minilm):
    code, out, _ = say(*FLIES, "--edit", "gate L2H3", "--json")
    trace = el.record("time flies like an arrow", model=minilm, edits=[Gate(layer=2, head=3)])
    document = json.loads(out)
    assert (code, document["run"]) == (0, "gate L2H3 0")
    np.testing.assert_allclose(document["table"], el.why(trace, 5, 2, 2, 1).table, rtol=1e-5, atol=1e-7)
    code, out, _ = say(*FLIES, "--edit", "gate L2H3")
    assert "gate L2H3 0" in out.split("\n\n")[0]
    code, _, err = say(*FLIES, "--edit", "gate L9H3")
    assert (code, len(err.splitlines())) == (2, 1)


def test_json_and_csv_have_every_term(say, found):
    code, out, _ = say(*FLIES, "--json")
    document = json.loads(out)
    assert (code, document["schema"]) == (0, "eyeline.why/1")
    np.testing.assert_allclose(document["table"], found.table, rtol=1e-6)
    assert document["query"] == {"index": 2, "id": found.query.id, "text": "flies"}
    assert document["key_sources"][3] == {"name": "L0H0", "kind": "head", "layer": 0, "head": 0}
    assert math.isclose(sum(map(sum, document["table"])), document["score"], abs_tol=1e-5)
    code, out, _ = say(*FLIES, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == found.table.size
    assert {(row["query"], row["key"], row["layer"], row["head"], row["model"]) for row in rows} == {
        ("flies", "time", "5", "2", "minilm")
    }
    assert math.isclose(sum(float(row["adds"]) for row in rows), found.score, abs_tol=1e-5)
    assert (rows[1]["query_source"], rows[1]["key_source"]) == ("embedding", "position")
    documented = DOCS.read_text("utf-8")
    section = documented.split("## `eyeline.why/1`")[1].split("\n## ")[0]
    named = {
        name for line in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", section, re.MULTILINE) for name in line.split(", ")
    }
    assert {name.strip("`") for name in named} == set(document)
    assert f"`{out.splitlines()[0]}`" in documented


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("time flies", "--token", "bees"), "'bees', which isn't there; the words are time, flies"),
        (("a b a", "--token", "a"), "say which with --nth 1 or 2"),
        (("a b a", "--token", "b", "--key", "a"), "say which with --key-nth 1 or 2"),
        (("time flies", "--token", "time", "--layer", "9"), "layer must be from 0 to 5 in minilm, got 9"),
        (("time flies", "--token", "time", "--head", "12"), "head must be from 0 to 11 in minilm, got 12"),
        (("time flies", "--token", "#9"), "query must be a position from 0 to 3, got 9"),
        (("unbelievably", "--token", "unbelievably"), 'give one of them, such as "#5"'),
        (("time flies", "--token", "time", "--top", "0"), "top must be a whole number, 1 or more, got 0"),
        (("time flies", "--token", "time", "--json", "--csv"), "--json and --csv can't go together; choose one"),
        (("", "--token", "time"), "text must have at least one word"),
        (("time", "flies", "--token", "time"), 'put it in: eyeline why "time flies" --token time'),
        (
            ("time flies", "--token", "time", "--key", "flies", "--model", "smollm2"),
            "key must be a token that time (#0) can look at, got flies (#1), which is ahead of it: this model's tokens "
            "look back; ask from flies at time",
        ),
        (("3rd of March", "--token", "M", "--key", "q", "--model", "dates"), "'q', which isn't there"),
    ],
)
def test_mistakes_are_one_line(say, arguments, line):
    code, out, err = say("why", *arguments)
    assert (code, out) == (2, "")
    assert line in err
    assert len(err.strip().splitlines()) == 1


def test_one_token_is_a_text(say):
    code, out, _ = say("why", "Hello", "--token", "Hello", "--key", "Hello", "--model", "smollm2", "--top", "2")
    assert code == 0
    assert "Written at the query Hello, with all of the key Hello" in out


def test_in_vietnamese(say):
    code, out, _ = say("--lang", "vi", *FLIES)
    assert code == 0
    assert "Vì sao L5H2 nhìn từ flies (#2) sang time (#1)" in out
    assert "MLP L4 × MLP L3" in out
    assert "others" not in out


def test_the_notebook_has_the_same_numbers_and_escapes_words(minilm, found):
    page = found._repr_html_()
    for term in found.largest(8):
        assert signed(term.value) in page
    assert "<script" not in page
    odd = el.why(el.record("<b>x</b> & y", model=minilm), 5, 2, "&", "y")._repr_html_()
    assert "&lt;b&gt;x" in odd
    assert "<bdi>&amp;</bdi>" in odd
    words.choose("vi")
    try:
        assert "Ghi vào ở" in found._repr_html_()
    finally:
        words.choose(None)


def test_bars_are_their_number_on_the_scale():
    assert [_bar(share, 10, False, ink) for share in (0, 0.05, 0.5, 1) for ink in [_Ink(True)]] == [
        "",
        "▌",
        "█████",
        "█" * 10,
    ]
    assert _bar(0.25, 10, True, _Ink(True)) == "       ▐██"
    assert (_bar(0.25, 10, True, _Ink(False)), _bar(0.25, 10, False, _Ink(False))) == ("       ###", "###")
    assert (round_up(2.0), round_up(2.1), round_up(0.051)) == (2.0, 5.0, 0.1)


class _Ink:
    def __init__(self, unicode):
        self.unicode = unicode


def test_repr_is_one_line_and_needs_no_terminal(found):
    assert repr(found).startswith(
        "<Why of 'time flies like an arrow': minilm · L5H2 of L0 to L5, H0 to H11 · as trained"
    )
    assert len(repr(found).splitlines()) == 1

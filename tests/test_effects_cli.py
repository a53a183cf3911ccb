"""`eyeline effects`: options, files and mistakes; what is drawn."""

from __future__ import annotations

import json
import re

import pytest

import eyeline as el
from eyeline import words
from eyeline.models import load
from eyeline.views.effects_findings import nice_end
from eyeline.views.effects_html import effects_page
from tests.test_cli import DOCS
from tests.test_views import HOSTILE, drawn, read

FLIES = "time flies like an arrow"


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture
def tiny(tiny_folder):
    return str(tiny_folder)


def test_the_words_that_matter(say):
    code, out, err = say("effects", FLIES, "--token", "flies", "--top", "3")
    assert (code, err) == (0, "")
    assert "minilm · 6 layers × 12 heads · as trained · cut by zero · 7 tokens" in out
    assert "Measured: the vector of flies after the last layer." in out
    assert re.search(r"L0H4 +█+\S* +0\.04\d\d +80% +2\.36\n", out)
    assert "and 69 more, the largest at 0.0273; --csv gives all." in out
    assert re.search(r"L0H4 +flies → time +█+\S* +0\.067\d +80% +2\.36\n", out)
    assert "Over 72 heads: weight −0.64, passed on +0.81" in out
    assert out.rstrip().replace("\n", " ").endswith("The look that matters most: L0H4, from flies to time (0.0675).")


def test_signed_effects_have_a_centre(say, tiny):
    code, out, err = say("effects", "the cat of the arrow", "--model", tiny, "--next", " f", "--rather", " a")
    assert (code, err) == (0, "")
    listed = re.findall(r"^  (L\dH\d) .*?([▐█ ]*)│([█▏▎▍▌▋▊▉ ]*)([+−]\d\.\d+)", out, re.MULTILINE)
    assert len(listed) == 24  # heads, and looks
    for _, left, right, effect in listed:
        assert not (left.strip() and right.strip())
        assert (effect[0] == "−") or not left.strip()
    axis = re.search(r"^ +−(\S+) ─+ 0 ─+ (\S+)$", out, re.MULTILINE)
    assert axis[1] == axis[2]
    # The zero of the axis stands below the line that bars begin at.
    lines = out.splitlines()
    row = next(line for line in lines if "│" in line)
    below = next(line for line in lines if re.match(r"^ +−\S+ ─+ 0 ─", line))
    assert below.index(" 0 ") + 1 == row.index("│")


def test_lengths_are_true(say, tiny):
    _, out, _ = say("effects", "the cat of the arrow", "--model", tiny, "--next", " f")
    rows = re.findall(r"^  L\dH\d .*?([▐█ ]*)│([█▏▎▍▌▋▊▉ ]*?) +([+−]\d\.\d+)", out, re.MULTILINE)[:12]
    axis = re.search(r"^ +−(\S+) (─+) 0 (─+) (\S+)$", out, re.MULTILINE)
    end, cells = float(axis[1]), len(axis[3]) + len(axis[4]) + 2
    for left, right, effect in rows:
        value = float(effect.replace("−", "-"))
        long = len(left.strip()) if value < 0 else len(right.strip())
        assert long == pytest.approx(abs(value) / end * cells, abs=1.5)


def test_in_ascii(say, tiny):
    answer = el.effects("the cat of the arrow", model=tiny, next=" f", edges=4)
    text = drawn(answer, encoding="ascii")
    assert text.isascii()
    assert "|#" in text


def test_files(say, tiny, tmp_path):
    png, html = tmp_path / "effects.png", tmp_path / "effects.html"
    code, out, err = say("effects", "the cat", "--model", tiny, "--png", str(png), "--html", str(html), "--csv")
    assert (code, err) == (0, f"wrote {png}\nwrote {html}\n")
    assert out.startswith("cut,layer,head,")
    assert png.read_bytes().startswith(b"\x89PNG")
    page = html.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page
    code, out, _ = say("effects", "the cat", "--model", tiny, "--json", "--edges", "0")
    assert json.loads(out)["edges"] == []


def test_an_edited_run_and_stdin(say, tiny, monkeypatch):
    edits = ("--edit", "gate L0H1", "--edit", "cut L1H2 cat>the")
    code, out, err = say("effects", "the cat", "--model", tiny, *edits, "--edges", "2")
    assert (code, err) == (0, "")
    assert "gate L0H1 0, cut L1H2" in out.replace("\n", " ")


def test_the_mean_over_a_file(say, tiny, tmp_path):
    over = tmp_path / "texts.txt"
    over.write_text("the arrow\n\na cat\n")
    code, out, err = say("effects", "the cat", "--model", tiny, "--by", "mean", "--over", str(over), "--edges", "0")
    assert (code, err) == (0, "")
    assert "cut by the mean" in " ".join(out.split())
    own = ("--edit", "mean L0H1", "--over", str(over), "--edges", "0")
    code, out, err = say("effects", "the cat", "--model", tiny, *own)
    assert (code, err) == (0, "")
    assert "mean L0H1" in out
    over.write_text("\n")
    code, out, err = say("effects", "the cat", "--model", tiny, "--by", "mean", "--over", str(over))
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_stopped_it_says_so_and_keeps_what_is_done(say, tiny, monkeypatch):
    from contextlib import contextmanager

    @contextmanager
    def stopped_after_a_layer():
        def done(count, of):
            raise KeyboardInterrupt

        yield done

    monkeypatch.setattr("eyeline.cli.effects.heads_shown", stopped_after_a_layer)
    for options in ((), ("--json",), ("--csv",)):
        code, out, _ = say("effects", "the cat", "--model", tiny, *options)
        assert code == 130
        told = {(): "Stopped: 4 of 12 heads were cut", ("--json",): '"complete": false', ("--csv",): ",zero,0,"}
        assert told[options] in out


MISTAKES = {
    ("--next", " a"): "next must be left out with the encoder minilm, which doesn't say what comes next; give --token",
    ("--token", "zebra"): "token must be a word of the text, got 'zebra', which isn't there; the words are time, flies",
    ("--token", "flies", "--embed"): "token and embed can't both be given",
    (
        "--by",
        "mean",
    ): "over must be given with by='mean': the texts whose mean replaces a head's output; add --over FILE",
    ("--by", "mean", "--over", "no.txt"): "no.txt: No such file or directory",
    ("--edges", "-1"): "edges must be a whole number, 0 or more, got -1",
    ("--top", "0"): "top must be a whole number, 1 or more, got 0",
    ("--edit", "nonsense"): "edit must be one of",
    ("--edit", "gate L9H3"): "layer must be from 0 to 5, got 9",
    ("--json", "--csv"): "--json and --csv can't go together; choose one",
    ("--by", "none"): "--by must be one of zero, mean, uniform, got 'none'",
    ("--html", "x.txt"): "--html must be a file name that ends in .html, got 'x.txt'",
    ("--model", "dates"): "model must be an encoder or a decoder to measure what heads do",
}


@pytest.mark.parametrize("options", MISTAKES)
def test_mistakes_are_one_line(say, options):
    code, out, err = say("effects", FLIES, *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"eyeline: {MISTAKES[options]}")
    assert err.count("\n") == 1


def test_hostile_texts_are_safe(minilm):
    answer = el.effects(HOSTILE, model=minilm, edges=20)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", drawn(answer))
    assert "[red]b[/red]" in drawn(answer)
    tags = read(answer._repr_html_())
    assert tags.tags <= {"div", "bdi", "b", "table", "tr", "td", "span"}
    assert tags.attributes <= {"style", "class", "title"}
    assert read(effects_page(answer)).tags - tags.tags == {"html", "head", "meta", "title", "body"}
    assert repr(answer).startswith("<Effects over ")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp437"])
def test_lines_fit_any_terminal(minilm, tiny, width, encoding):
    from rich.cells import cell_len

    asked = {"model": tiny, "next": " f", "rather": " a", "edges": 20}
    for found in (el.effects("the cat of the arrow", **asked), el.effects(HOSTILE, model=minilm, edges=20)):
        lines = drawn(found, width, encoding).split("\n")
        assert max(map(cell_len, lines)) <= width
        assert all(line == line.rstrip() for line in lines)


def test_docs_name_every_key(minilm):
    docs = DOCS.read_text("utf-8")
    section = docs.split("## `eyeline.effects/1`")[1].split("\n## `")[0]
    found = el.effects(FLIES, token="flies", model=minilm)
    document = found.document()
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(document)
    for part, entry in (("The `question`", document["question"]), ("Each of the `edges`", document["edges"][0])):
        told = section.split(f"{part}:")[1].split("\n\n")[0]
        assert set(entry) <= set(re.findall(r"`(\w+)`", told))
    told = section.split("Each of the `agreement`:")[1]
    assert set(document["agreement"][0]) <= set(re.findall(r"`(\w+)`", told))
    assert f"`{found.to_csv().splitlines()[0]}`" in docs


def test_in_vietnamese(minilm):
    answer = el.effects(FLIES, token="flies", model=minilm, edges=4)
    words.choose("vi")
    try:
        text = str(answer)
    finally:
        words.choose(None)
    assert "Các đầu chú ý quan trọng nhất" in text
    assert "Đo: vectơ của flies sau tầng cuối." in text


def test_scales_end_at_round_numbers():
    for number, end in {0.0675: 0.1, 0.05: 0.05, 1.7: 2, 3.85: 5, 7: 10, 0.0: 1, 1e-9: 1e-9, 250: 500}.items():
        assert nice_end(number) == pytest.approx(end)

"""The drawings: readable at any width and on any terminal, inert in a notebook, and never at odds with the numbers."""

from __future__ import annotations

import html.parser
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline.models import load
from eyeline.views.bars import rest, strongest
from eyeline.views.labels import excerpt, marked, percent, printable

rich_cells = pytest.importorskip("rich.cells")

FLIES = "time flies like an arrow"
HOSTILE = "a\x1b[31m</script><script>alert(1)</script> [red]b[/red] \u202ec \x9bd & <img src=x>"


@pytest.fixture(scope="module")
def minilm():
    return load()


def drawn(found, width=80, encoding="utf-8", colour=False):
    from rich.console import Console

    paper = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="\n")
    system = "truecolor" if colour else None
    Console(file=paper, width=width, color_system=system, force_terminal=colour, legacy_windows=False).print(found)
    paper.flush()
    return paper.buffer.getvalue().decode(encoding)


QUESTIONS = [
    {},
    {"token": "flies"},
    {"token": "flies", "mask": "causal", "scale": 1.0},
    {"token": "flies", "steps": True, "mask": "causal", "scale": 1.0},
    {"mask": "causal", "special": True},
]


@pytest.mark.parametrize("asked", QUESTIONS)
@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252", "cp437"])
def test_lines_fit_any_terminal(minilm, asked, width, encoding):
    found = el.explain(FLIES + " học 学 🎉 مرحبا", model=minilm, **asked)
    text = drawn(found, width, encoding)
    lines = text.split("\n")
    assert max(map(rich_cells.cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in text
    assert "flies" in text


def test_a_comparison_fits_any_terminal(minilm):
    found = el.compare(FLIES, "fruit flies like a banana", "flies", model=minilm)
    for width in (40, 80, 120):
        lines = drawn(found, width).split("\n")
        assert max(map(rich_cells.cell_len, lines)) <= width
        assert sum("banana" in line for line in lines) >= 2
    assert any("arrow" in line and "banana" in line for line in drawn(found, 80).split("\n"))
    assert not any("time  " in line and "fruit  " in line for line in drawn(found, 40).split("\n"))


def test_what_a_user_typed_reaches_no_terminal_raw(minilm):
    for asked in ({}, {"token": "b"}, {"token": "b", "steps": True}):
        text = drawn(el.explain(HOSTILE, model=minilm, **asked))
        assert not set(text) & {"\x1b", "\x9b", "\u202e", "\r"}
        assert "</script>" in text
        assert "[red]b[/red]" in text


def test_colours_are_the_only_escapes_and_change_no_text(minilm):
    found = el.explain(HOSTILE, "b", model=minilm)
    coloured = drawn(found, colour=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == drawn(found)
    assert "\x1b[" in coloured


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = set(), set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, words):
        self.words.append(words)


def read(markup):
    tags = Tags()
    tags.feed(markup)
    tags.close()
    return tags


@pytest.mark.parametrize("asked", [{}, {"token": "b"}, {"token": "b", "steps": True}, {"token": "b", "mask": "causal"}])
def test_a_notebook_shows_it_and_nothing_in_it_runs(minilm, asked):
    found = el.explain(HOSTILE, model=minilm, **asked)
    tags = read(found._repr_html_())
    assert tags.tags <= {"div", "bdi", "b", "table", "tr", "td", "pre"}
    assert tags.attributes <= {"style", "class"}
    assert "<script>alert(1)</script>" in "".join(tags.words)
    assert "url(" not in found._repr_html_()


def test_a_notebook_shows_the_numbers_of_the_document(minilm):
    found = el.explain(FLIES, "flies", model=minilm)
    words = "".join(read(found._repr_html_()).words)
    run = found.document()["runs"][0]
    for look in run["looks_at"]:
        assert look["share"] is None or f"{look['text']}{percent(look['weight'])}" in words
    assert f"special tokens{percent(run['set_aside'])}" in words
    for entry in run["moved"]:
        assert f"{entry['cosine']:.3f}" in words
    assert "flies takes most from time (17%) and itself (14%)." in words
    both = el.compare(FLIES, "fruit flies like a banana", "flies", model=minilm)
    words = "".join(read(both._repr_html_()).words)
    assert all(f"{entry['cosine']:.3f}" in words for entry in both.document()["cosines"])


@pytest.mark.parametrize("token", ["time", "flies", "like", "an", "arrow"])
@pytest.mark.parametrize("layer", [0, 2, 5])
def test_the_sentence_below_the_bars_is_what_they_show(minilm, token, layer):
    found = el.explain(FLIES, token, layer=layer, model=minilm)
    text = str(found)
    order = np.argsort(-found.weights, kind="stable")[:2]
    named = [
        f"{'itself' if found.words[place] == token else found.words[place]} ({percent(found.weights[place])})"
        for place in order
    ]
    assert f"{token} takes most from {named[0]} and {named[1]}." in text
    for word, weight in zip(found.words, found.weights, strict=True):
        assert re.search(
            rf"^{'•' if word == token else ' '} {word} .* {re.escape(percent(weight))}$", text, re.MULTILINE
        )


def test_of_two_runs_the_strongest_of_either_are_drawn():
    assert strongest([[0.0, 0.5, 0.1, 0.4], [0.9, 0.0, 0.1, 0.0]], 2) == [0, 1]
    assert rest([[0.0, 0.5, 0.1, 0.4], [0.9, 0.0, 0.1, 0.0]], [0, 1]) == "and 2 more, together 50% and 10%"


def test_a_long_text_s_steps_are_those_of_the_strongest_keys(tiny_model):
    found = el.explain("the cat " * 40, "cat", nth=40, steps=True, model=tiny_model)
    keys = found.document()["runs"][0]["steps"]["keys"]
    assert len(keys) > 60
    text = str(found)
    left = [key["weight"] for key in sorted(keys, key=lambda key: -key["weight"])[40:]]
    (said,) = re.findall(r"^  and (\d+) more, together (\S+)$", text, re.MULTILINE)
    assert int(said[0]) == len(keys) - 40 == len(left)
    assert len(re.findall(r"^[• ] \S.* +-?\d+\.\d\d +-?\d+\.\d\d +\S+%", text, re.MULTILINE)) == 40


def test_more_words_than_fit_say_so(minilm):
    found = el.explain("the quick brown fox jumps over it " * 12, model=minilm)
    assert "of 84 words fit here" in drawn(found, 60)
    assert "fit here" not in drawn(found, 120)


def test_what_is_hidden_is_a_dash_and_what_rounds_to_nothing_is_not(minilm):
    text = str(el.explain(FLIES, "flies", mask="causal", model=minilm))
    assert len(re.findall(r"^  (?:like|an|arrow) .* –$", text, re.MULTILINE)) == 3
    assert percent(0.0001) == "<1%"
    assert percent(0.0) == "0%"


UNKNOWN = "I love 爱 and 🇻🇳 and 爱"
SHOWN = [
    lambda model: el.explain(UNKNOWN, model=model),
    lambda model: el.explain(UNKNOWN, "love", model=model),
    lambda model: el.explain(UNKNOWN, "love", steps=True, model=model),
    lambda model: el.rollout(UNKNOWN, model=model),
    lambda model: el.rollout(UNKNOWN, "love", model=model),
    lambda model: el.heads(UNKNOWN, model=model),
    lambda model: el.compare(UNKNOWN, "I love you", "love", model=model),
    lambda model: el.compare("I love you", UNKNOWN, "love", model=model),
]


@pytest.mark.parametrize("make", SHOWN)
def test_what_the_vocabulary_lacks_is_said_in_every_view(minilm, make, tmp_path):
    answer = make(minilm)
    want = "Read as [UNK], since the vocabulary has no pieces for it: 爱 and 🇻🇳."
    assert " ".join(drawn(answer, 60).split()).count(want) == 1
    assert "".join(read(answer._repr_html_()).words).count(want) == 1
    if answer.renderers.png is not None:
        figure = pytest.importorskip("matplotlib.figure").Figure
        titles = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(figure, "savefig", lambda self, *_, **__: titles.append(self.get_suptitle()))
            answer.save_png(tmp_path / "x.png")
        assert [" ".join(title.split()).count(want) for title in titles] == [1]


def test_where_nothing_is_unknown_nothing_is_said(minilm):
    answer = el.explain(FLIES, "flies", model=minilm)
    assert "Read as" not in drawn(answer) + answer._repr_html_()


def test_a_matrix_in_a_notebook_is_cut(minilm):
    answer = el.explain("the quick brown fox jumps over it " * 20, model=minilm)
    words = "".join(read(answer._repr_html_()).words)
    assert "100 of 140 words are drawn here" in words
    assert answer._repr_html_().count("<tr") == 101


@given(st.text())
def test_printable_text_steers_nothing(text):
    safe = printable(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", safe)
    assert printable(safe) == safe
    assert marked(text).strip("\u200e") == safe.strip("\u200e")


@given(st.text(min_size=1, max_size=200), st.data(), st.integers(1, 120))
def test_an_excerpt_keeps_its_middle(text, data, room):
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    before, inside, after = excerpt(text, (first, last), room)
    assert inside == text[first:last]
    assert text[:first].endswith(before.removeprefix("…")) or text[:first] == before
    assert len(before) + len(after) <= max(room - len(inside), 8) + 2 or before + inside + after == text


def test_the_heat_map_is_a_png_of_the_right_size(minilm, tmp_path):
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    target = tmp_path / "picture.png"
    missing = el.explain(FLIES + " $x^$ Việt", "flies", mask="causal", model=minilm).save_png(target)
    assert missing == []
    with image.open(target) as picture:
        picture.verify()
        assert picture.width > picture.height > 400
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]
    assert el.explain("\U000f0000 word", model=minilm).save_png(target) == ["\U000f0000"]


def test_a_heat_map_that_cannot_be_written_leaves_nothing(minilm, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    found = el.explain(FLIES, model=minilm)
    with pytest.raises(FileNotFoundError) as caught:
        found.save_png(tmp_path / "no" / "x.png")
    assert caught.value.filename == str(tmp_path / "no" / "x.png")
    with pytest.raises(ValueError, match=r"must be a file name that ends in \.png, got"):
        found.save_png(tmp_path / "x.pdf")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    (tmp_path / "old.png").write_bytes(b"old")
    with pytest.raises(OSError, match="No space left"):
        found.save_png(tmp_path / "old.png")
    assert [path.name for path in tmp_path.iterdir()] == ["old.png"]
    assert (tmp_path / "old.png").read_bytes() == b"old"


def test_without_matplotlib_it_says_what_to_install(minilm, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = el.explain(FLIES, model=minilm)
    with pytest.raises(ValueError, match=r"pip install 'eyeline\[figures\]'"):
        found.save_png(tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


def test_views_load_neither_models_nor_torch():
    code = (
        "import sys, eyeline.views.drawing, eyeline.views.explanation_terminal, eyeline.views.explanation_html; "
        "import eyeline.views.explanation_figure; "
        "print([m for m in ('torch', 'transformers', 'matplotlib', 'rich', 'eyeline.models') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"

"""One quantity on one scale: a bar's length, a cell's shade and the number beside it are the same, in every picture."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.answers.entries import Look, UnitEntry
from eyeline.models import load
from eyeline.views.bars import Chart, bars
from eyeline.views.drawn import DrawnMatrix, drawn_row
from eyeline.views.ink import Ink
from eyeline.views.labels import percent
from eyeline.views.matrix_terminal import Shades, matrix, shades_note
from eyeline.views.provenance import provenance
from eyeline.views.scale import ENDS, scale_end, shade_end

FLIES = "time flies like an arrow"
BANANA = "fruit flies like a banana"
EIGHTHS = "▏▎▍▌▋▊▉█"


@pytest.fixture(scope="module")
def minilm():
    return load()


def unit(place, text, *, aside=False):
    start = None if aside else place
    return UnitEntry(place, text, start, start, (place,), set_aside=aside, joins_before=False, joins_after=False)


def row_of(numbers, aside=None):
    looks = [Look(place, f"w{place}", number, number, hidden=False) for place, number in enumerate(numbers)]
    if aside is not None:
        looks.append(Look(len(numbers), "[SEP]", aside, None, hidden=False))
    return drawn_row(looks, shares=False)


def length(line: str) -> float:
    """The cells of the bar in a line."""
    return sum((EIGHTHS.index(sign) + 1) / 8 for sign in line if sign in EIGHTHS)


def bars_in(text: str) -> list[tuple[str, float, str]]:
    """The label, the length in cells and the figure of each bar of a drawing with one chart."""
    found = re.findall(rf"^[• ] (\S.*?) +([{EIGHTHS}]*) +(<?\d+%|–)$", text, re.MULTILINE)
    return [(label, length(bar), figure) for label, bar, figure in found if "→" not in label]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_the_end_is_the_least_that_holds_all(numbers):
    end = scale_end(numbers)
    assert end in ENDS
    assert max(numbers) <= end * (1 + 1e-9)
    smaller = [other for other in ENDS if other < end]
    assert not smaller or max(numbers) > smaller[-1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1), st.integers(4, 60))
def test_a_bar_is_as_long_as_its_number_on_the_scale(numbers, aside, cells):
    total = (sum(numbers) + aside) or 1.0
    numbers, aside = [number / total for number in numbers], aside / total
    units = [unit(place, f"w{place}") for place in range(len(numbers))] + [unit(len(numbers), "[SEP]", aside=True)]
    lines = bars([Chart("", row_of(numbers, aside))], units, [0], Ink("utf-8", 200))
    *words, special, axis = [line.plain for line in lines]
    end = scale_end([*numbers, aside])
    assert re.fullmatch(rf" +0 ─+ {end:.0%}", axis)
    for line, number in zip([*words, special], [*numbers, aside], strict=True):
        assert length(line) == pytest.approx(48 * number / end, abs=1 / 16 + 1e-9)
        assert line.endswith(percent(number))
    assert special.split("  ")[1] == "special tokens"
    plain = Ink("ascii", 80)
    assert len(plain.bar(numbers[0], end, cells)) == pytest.approx(cells * numbers[0] / end, abs=0.5 + 1e-9)


def test_bars_side_by_side_have_one_scale():
    one, other = row_of([0.3, 0.1], 0.6), row_of([0.02, 0.05], 0.01)
    units = [unit(0, "a"), unit(1, "b"), unit(2, "[SEP]", aside=True)]
    lines = bars([Chart("x", one), Chart("y", other)], units, [], Ink("utf-8", 200))
    assert lines[-1].plain.count("100%") == 2
    assert length(lines[1].plain) == pytest.approx(48 * 0.32, abs=1 / 8)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60), st.integers(1, 70), st.data())
def test_of_many_words_the_strongest_are_drawn_in_order_and_the_rest_is_counted(numbers, most, data):
    total = sum(numbers) or 1.0
    numbers = [number / total for number in numbers]
    own = data.draw(st.integers(0, len(numbers) - 1))
    units = [unit(place, f"w{place}") for place in range(len(numbers))]
    *lines, axis = bars([Chart("", row_of(numbers))], units, [own], Ink("utf-8", 80), most)
    shown = min(most, len(numbers)) if len(numbers) > most else len(numbers)
    drawn = [int(re.match(r"[• ] w(\d+)", line.plain)[1]) for line in lines if re.match(r"[• ] w\d", line.plain)]
    assert drawn == sorted(drawn)
    assert own in drawn
    left = [number for place, number in enumerate(numbers) if place not in drawn]
    assert len(drawn) <= shown
    assert not left or max(left) <= min([numbers[place] for place in drawn if place != own], default=1.0)
    said = [line.plain.strip() for line in lines[len(drawn) :]]
    assert said == ([f"and {len(left)} more, together {percent(sum(left))}"] if left else [])
    assert "0 ─" in axis.plain


def test_shades_are_linear_from_zero_on_a_stated_scale():
    ink = Ink("utf-8", 80)
    assert [ink.shade(number, 0.2) for number in (0, 0.02, 0.03, 0.08, 0.13, 0.18, 0.9)] == list("  ░▒▓██")
    assert ink.shade_legend(0.2, 0.2) == (
        "Shades, from 0 to 20%: ░░ from 2.5%, ▒▒ from 7.5%, ▓▓ from 12.5%, ██ from 17.5%."
    )
    assert ink.shade_legend(0.2, 0.9).endswith(" A few cells are beyond, the largest at 90%.")


def test_one_heavy_column_leaves_the_others_readable():
    for count, end in ((10, 1.0), (40, 0.1)):  # one column of 40 is less than a twentieth of the cells
        numbers = np.full((count, count), 0.06)
        numbers[:, 0] = 0.9
        assert shade_end(numbers.ravel().tolist()) == (end, 0.9)
    assert shade_end([0.3, *[0.15] * 100]) == (0.5, 0.3)
    assert shade_end([0.0, 0.0]) == (0.01, 0.0)


def test_a_matrix_has_a_last_column_of_what_is_set_aside():
    found = DrawnMatrix(
        np.array([[0.1, 0.2], [0.3, 0.1]]), np.array([0.7, 0.6]), np.array([[False, True], [False] * 2])
    )
    units = [unit(0, "a"), unit(1, "b"), unit(2, "[SEP]", aside=True)]
    shades = Shades.of([found])
    assert shades == Shades(0.5, 0.3)
    lines, fits = matrix(found, units, [0, 1], shades, Ink("utf-8", 80))
    assert fits == 2
    assert lines[0].plain.split() == ["a", "b", "special", "tokens"]
    assert lines[1].plain.split() == ["1", "a", "░░", "10%", "▒▒", "–", "70%"]
    narrow, fits = matrix(found, units, [0, 1], shades, Ink("utf-8", 20))
    assert (fits, narrow[2].plain.rstrip()) == (2, "  2 b   ▒▒ ░░ ▒▒")
    note = shades_note(shades, found, units, Ink("utf-8", 80))
    assert note.endswith("The last column, on a scale of its own from 0 to 100%: special tokens.")


QUANTITIES = [{}, {"special": True}, {"shares": True}]


@pytest.mark.parametrize("asked", QUANTITIES)
def test_every_picture_of_an_explanation_draws_the_same_numbers(minilm, asked):
    found = el.explain(FLIES, "flies", model=minilm, **asked)
    run = found.document()["runs"][0]
    key = "share" if "shares" in asked else "weight"
    want = {look["text"]: look[key] for look in run["looks_at"] if look["share"] is not None}
    if not asked:
        want["special tokens"] = run["set_aside"]
    assert sum(want.values()) == pytest.approx(1, abs=1e-5)
    end = scale_end(want.values())
    drawn = bars_in(str(found))
    assert [(label, figure) for label, _, figure in drawn] == [(word, percent(number)) for word, number in want.items()]
    for (_, cells, _), number in zip(drawn, want.values(), strict=True):
        assert cells == pytest.approx(48 * number / end, abs=1 / 16 + 1e-9)
    markup = found._repr_html_()
    assert f"<div>0</div><div>{end:.0%}</div>" in markup
    widths = [float(width) for width in re.findall(r"width:([\d.]+)px;height:1em", markup)]
    assert widths == [pytest.approx(240 * number / end, abs=0.06) for number in want.values()]
    assert ("shares of the words" in provenance(found)) == ("shares" in asked)


@pytest.mark.parametrize("asked", QUANTITIES)
def test_every_matrix_draws_the_same_numbers(minilm, asked, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.axes import Axes

    found = el.explain(FLIES, model=minilm, layer=3, head=2, **asked)
    one = found.runs[0].matrix
    numbers = one.shares if "shares" in asked else one.weights[np.ix_(found.shown, found.shown)]
    figures = [[percent(number) for number in row] for row in numbers]
    if not asked:
        for row, number in zip(figures, 1 - numbers.sum(axis=1), strict=True):
            row.append(percent(number))
    text = [re.findall(r"<?\d+%", line) for line in str(found).split("\n")]
    assert [row for row in text if len(row) >= 5][: len(figures)] == figures
    cells = re.findall(r'text-align:right;background:\S+">(?:<[^>]*>)?([^<]*)', found._repr_html_())
    assert [cell.replace("&lt;", "<") for cell in cells if "%" in cell] == [cell for row in figures for cell in row]
    written, shown = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Axes, "text", lambda _, j, i, text, **__: written.append((i, j, text)))
        patch.setattr(Axes, "set_ylabel", lambda _, text, **__: shown.append(text))
        found.save_png(tmp_path / "x.png")
    assert [text for _, _, text in sorted(written)] == [cell for row in figures for cell in row]
    assert "looks (each row adds up to 100%)" in shown


def test_a_comparison_has_one_scale_and_one_quantity(minilm):
    for asked in QUANTITIES:
        both = el.compare(FLIES, BANANA, "flies", layer=1, head=3, model=minilm, **asked)
        rows = [drawn_row(side.looks_at, both.question.shares) for side in both.sides]
        end = scale_end(number for row in rows for number in row.all)
        markup = both._repr_html_()
        assert markup.count(f"<div>0</div><div>{end:.0%}</div>") == 2
        widths = [float(width) for width in re.findall(r"width:([\d.]+)px;height:1em", markup)]
        assert widths == [pytest.approx(240 * number / end, abs=0.06) for row in rows for number in row.all]
        assert str(both).count(f" {end:.0%}") >= 2


def test_a_rollout_draws_whole_rows_too(minilm):
    found = el.rollout(FLIES, "flies", model=minilm)
    drawn = bars_in(str(found))
    assert [figure for _, _, figure in drawn] == [*map(percent, found.by_unit[1:6]), percent(found.set_aside)]
    assert "Shares of the whole vector: a row adds up to 100%" in str(found)
    assert "Shares of the words" in str(el.rollout(FLIES, shares=True, model=minilm))


def test_a_decoders_first_token_is_named(tiny_model):
    found = el.explain("the cat sat", "sat", model=tiny_model)
    assert [label for label, _, _ in bars_in(str(found))] == ["cat", "sat", "the (the first)"]


@pytest.mark.parametrize("ask", [el.explain, el.rollout])
def test_special_tokens_are_drawn_or_left_out(ask, minilm):
    with pytest.raises(QuestionError, match=r"^special and shares can't both be given.*; leave out one of them$"):
        ask(FLIES, "flies", special=True, shares=True, model=minilm)
    with pytest.raises(QuestionError, match=r"^special and shares can't both be given"):
        el.compare(FLIES, BANANA, "flies", special=True, shares=True, model=minilm)


def test_whatever_is_drawn_says_what_it_is_of(minilm, tmp_path):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    answers = [
        (el.explain(FLIES, "flies", layer=2, head=3, mask="causal", model=minilm), "L2H3", "as trained and causal"),
        (el.explain(FLIES, scale=1.0, model=minilm), "mean of H0 to H11", "as trained and without ÷ √d"),
        (el.compare(FLIES, BANANA, "flies", model=minilm), "L5 of L0 to L5", "as trained"),
        (el.rollout(FLIES, model=minilm), "attention rollout through L0 to L5", "as trained"),
        (el.heads(FLIES, model=minilm), "6 layers × 12 heads", "as trained · 7 tokens"),
    ]
    for answer, place, run in answers:
        line = provenance(answer)
        assert line.startswith("minilm · ")
        assert place in line
        assert f" · {run} · eyeline {el.__version__}" in line
        assert line in " ".join(str(answer).split())
        assert line in answer._repr_html_()
        assert FLIES in str(answer)
        if answer.renderers.png is not None:
            answer.save_png(tmp_path / "x.png")
            with image.open(tmp_path / "x.png") as picture:
                assert picture.text["Description"] == f"{FLIES} · {line}"
        if answer.renderers.csv is not None:
            head, first = answer.to_csv().split("\n")[:2]
            assert head.endswith(",model,text,version")
            assert first.endswith(f",minilm,{FLIES},{el.__version__}")


def test_advice_names_arguments_in_python_and_options_on_the_command_line(minilm, capsys):
    from eyeline.cli import main

    text = " ".join(str(el.explain(FLIES, "flies", model=minilm)).split())
    assert "which special=True draws one by one and shares=True leaves out" in text
    assert "--" not in text
    assert main(["explain", FLIES, "--token", "flies"]) == 0
    assert "which --special draws one by one and --shares leaves out" in " ".join(capsys.readouterr().out.split())
    assert "rich" in sys.modules

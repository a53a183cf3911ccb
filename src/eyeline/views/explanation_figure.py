"""The heat map of an explanation as a PNG."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyeline.views.drawn import DrawnMatrix, drawn_matrix
from eyeline.views.figure import figures, fonts, png_path, save
from eyeline.views.findings import aside_name, changes, found
from eyeline.views.labels import excerpt, marked, named, percent, printable
from eyeline.views.new_tokens import labelled
from eyeline.views.provenance import provenance, quantity, run_name
from eyeline.views.reading import reading_notes
from eyeline.views.scale import Shades
from eyeline.words import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyeline.answers import Explanation
    from eyeline.answers.entries import UnitEntry

_TICKS = 5  # steps of the colour bar
_PALE = 2.0  # the number that would be black: 100% is a middle grey, beside which the words' blue stands out
_NUMBERED = 16  # the largest number of units for cells with numbers


def save_heat_map(answer: Explanation, path: str | os.PathLike[str]) -> list[str]:
    """Draw the weights between words, one panel for each run; the row of the question's token is highlighted.

    Args:
        answer: the explanation.
        path: a file name that ends in .png; the file is written completely or not at all.

    Returns:
        The characters that no installed font has.

    Raises:
        ExtraError: if matplotlib isn't installed.
        ValueError: if the path doesn't end in .png.
        OSError: if the file can't be written.
    """
    target = png_path(path)
    empty = figures("png")
    import matplotlib

    runs, units, shares = answer.runs, labelled(answer), answer.question.shares
    shown = [units[index] for index in answer.shown]
    drawn = [drawn_matrix(run.matrix, answer.shown, shares) for run in runs]
    aside = "" if drawn[0].aside is None else aside_name(units)
    side = min(max(0.55 * len(shown) + 1.5, 4.5), 24)
    with matplotlib.rc_context({"font.family": fonts(), "axes.spines.top": False, "axes.spines.right": False}):
        figure = empty(side * len(runs) + 0.8, side + 0.7)
        before, inside, after = excerpt(printable(answer.text), None, round(side * len(runs) * 8))
        sentences = [found(answer, marked)] + ([changes(answer, marked)] if len(runs) > 1 else [])
        said = reading_notes(answer.traces[0], answer.unknown, marked)
        lines = [before + inside + after, provenance(answer), *said, *sentences]
        title = "\n".join(textwrap.fill(line, round(13 * side * len(runs))) for line in lines)
        figure.suptitle(title, fontsize=10).set_parse_math(False)
        shades = Shades.of(drawn)
        images = []
        axes = figure.subplots(1, len(runs), squeeze=False)[0]
        for panel, run, numbers in zip(axes, runs, drawn, strict=True):
            images.append(_panel(panel, numbers, shown, aside, shades.end))
            own = [place for place, index in enumerate(answer.shown) if index in answer.question.units]
            if own:
                panel.axhspan(own[0] - 0.5, own[-1] + 0.5, fill=False, edgecolor="tab:orange", linewidth=2)
            if len(runs) > 1:
                panel.set_title(run_name(run.name), fontsize=10).set_parse_math(False)
        bar = figure.colorbar(images[0], ax=list(axes), shrink=0.6, extend="max" if shades.beyond() else "neither")
        bar.set_label(quantity(shares), fontsize=9)
        ticks = [shades.end * step / _TICKS for step in range(_TICKS + 1)]
        bar.set_ticks(ticks, labels=[f"{100 * tick:.3g}%" for tick in ticks])
        return save(figure, target, f"{printable(answer.text)} · {provenance(answer)}")


def _panel(panel: Axes, found: DrawnMatrix, shown: Sequence[UnitEntry], aside: str, end: float) -> Any:
    """Draw the numbers between words in blue and, in a last column of its own in grey, what is set aside."""
    numbers, hidden = found.numbers, found.hidden
    count = len(numbers)
    image = panel.imshow(numbers, cmap="Blues", vmin=0, vmax=end)
    if hidden is not None:
        # Hidden pairs are grey, in contrast to the white of 0.
        panel.imshow([[1.0 if unseen else math.nan for unseen in row] for row in hidden], cmap="Greys", vmin=0, vmax=8)
    labels = ["-" * unit.joins_before + printable(named(unit.text)) + "-" * unit.joins_after for unit in shown]
    size = min(10.0, max(3.0, 400 / len(labels)))
    columns = [*labels, *[f"{aside}\n({worded('grey: 0 to 100%')})"] * bool(aside)]
    panel.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    panel.set_yticks(range(count), labels, fontsize=size)
    for label in (*panel.get_xticklabels(), *panel.get_yticklabels()):
        label.set_parse_math(False)
    panel.set_xlabel(worded("is looked at"))
    panel.set_ylabel(worded("looks (each row adds up to 100%)"))
    if found.aside is not None:
        column = (count - 0.5, count + 0.5, count - 0.5, -0.5)
        panel.imshow(found.aside[:, None], cmap="Greys", vmin=0, vmax=_PALE, extent=column)
        panel.axvline(count - 0.5, color="white", linewidth=3)
        panel.set_xlim(-0.5, count + 0.5)
    if count <= _NUMBERED:
        for i, row in enumerate(numbers):
            for j, number in enumerate(row):
                text = "–" if hidden is not None and hidden[i, j] else percent(number)
                _figure(panel, i, j, text, number > 0.6 * end)
            if found.aside is not None:
                _figure(panel, i, count, percent(found.aside[i]), False)
    return image


def _figure(panel: Axes, i: int, j: int, text: str, dark: bool) -> None:
    panel.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")

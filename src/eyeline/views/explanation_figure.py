"""The heat map of an explanation as a PNG."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyeline.views.figure import figures, fonts, png_path, save
from eyeline.views.findings import changes, found, heading, unknown
from eyeline.views.labels import excerpt, marked, named, percent, printable
from eyeline.views.new_tokens import labelled
from eyeline.views.scale import shade_ceiling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyeline.answers import Explanation
    from eyeline.answers.entries import UnitEntry
    from eyeline.answers.explanation import ExplainedRun


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

    runs, units = answer.runs, labelled(answer)
    shown = [units[index] for index in answer.shown]
    side = min(max(0.55 * len(shown) + 1.5, 4.5), 24)
    with matplotlib.rc_context({"font.family": fonts(), "axes.spines.top": False, "axes.spines.right": False}):
        figure = empty(side * len(runs) + 0.8, side + 0.7)
        before, inside, after = excerpt(printable(answer.text), None, round(side * len(runs) * 8))
        sentences = [found(answer, marked)] + ([changes(answer, marked)] if len(runs) > 1 else [])
        said = unknown(answer.unknown, marked)
        lines = [before + inside + after, heading(answer), *([said] if said else []), *sentences]
        title = "\n".join(textwrap.fill(line, round(13 * side * len(runs))) for line in lines)
        figure.suptitle(title, fontsize=10).set_parse_math(False)
        heavy = [place for place, unit in enumerate(shown) if unit.start is None]
        ceiling, beyond = shade_ceiling([run.matrix.shares.tolist() for run in runs], heavy)
        images = []
        axes = figure.subplots(1, len(runs), squeeze=False)[0]
        for panel, run in zip(axes, runs, strict=True):
            images.append(_panel(panel, run, shown, ceiling))
            own = [place for place, index in enumerate(answer.shown) if index in answer.question.units]
            if own:
                panel.axhspan(own[0] - 0.5, own[-1] + 0.5, fill=False, edgecolor="tab:orange", linewidth=2)
            if len(runs) > 1:
                panel.set_title(run.name, fontsize=10).set_parse_math(False)
        bar = figure.colorbar(images[0], ax=list(axes), shrink=0.6, extend="max" if beyond else "neither")
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        return save(figure, target)


def _panel(panel: Axes, run: ExplainedRun, shown: Sequence[UnitEntry], ceiling: float) -> Any:
    shares, hidden = run.matrix.shares, run.matrix.hidden
    image = panel.imshow(shares, cmap="Blues", vmin=0, vmax=ceiling)
    if hidden is not None:
        # Hidden pairs are grey, in contrast to the white of 0.
        panel.imshow([[1.0 if unseen else math.nan for unseen in row] for row in hidden], cmap="Greys", vmin=0, vmax=8)
    labels = ["-" * unit.joins_before + printable(named(unit.text)) + "-" * unit.joins_after for unit in shown]
    size = min(10.0, max(3.0, 400 / len(labels)))
    places = range(len(labels))
    panel.set_xticks(places, labels, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    panel.set_yticks(places, labels, fontsize=size)
    for label in (*panel.get_xticklabels(), *panel.get_yticklabels()):
        label.set_parse_math(False)
    panel.set_xlabel("is looked at")
    panel.set_ylabel("looks (each row sums to 100%)")
    if len(labels) <= _NUMBERED:
        for i, row in enumerate(shares):
            for j, share in enumerate(row):
                ink = "white" if share > 0.6 * ceiling else "black"
                figure = "–" if hidden is not None and hidden[i, j] else percent(share)
                panel.text(j, i, figure, ha="center", va="center", fontsize=8, color=ink)
    return image

"""Heads as a PNG: panels of layers × heads, one for their kinds and one for each measure."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyeline.views.figure import figures, fonts, png_path, save
from eyeline.views.heads_findings import found, kind_names, rules
from eyeline.views.labels import excerpt, printable
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.views.signs import SIGNS
from eyeline.words import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyeline.answers import Heads

_SIGNED = 400  # the largest number of heads for tiles with signs
_BACK = "#EEEEEE"


def save_heads(answer: Heads, path: str | os.PathLike[str]) -> list[str]:
    """Draw the kinds of heads and each measure to a PNG file.

    Args:
        answer: the heads.
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

    layers, heads = answer.model.layers, answer.model.heads
    wide, high = min(max(0.24 * heads, 2.9), 8.0), min(max(0.24 * layers, 2.2), 9.0)
    measures = answer.measures
    thresholds = {label.measure: label.above for label in answer.labels}
    across = 6 if layers > 1.5 * heads else 4
    down = math.ceil((len(measures) + 1) / across)
    with matplotlib.rc_context({"font.family": fonts(), "font.size": 9}):
        figure = empty((wide + 0.9) * across, (high + 0.75) * down + 1.5)
        before, inside, after = excerpt(printable(answer.text), None, round((wide + 0.9) * across * 9))
        said = reading_notes(answer.trace, answer.unknown)
        title = "\n".join([before + inside + after, provenance(answer), *said, found(answer)])
        figure.suptitle(title, fontsize=11).set_parse_math(False)
        panels = figure.subplots(down, across, squeeze=False).ravel()
        _kinds(panels[0], answer, across)
        for panel, measure in zip(panels[1:], measures, strict=False):
            name = measure.name
            rows = _rows(answer, name)
            if answer.causal and name == "next":
                _none(panel, rows, name, worded("may not be seen"))
            elif all(value is None for row in rows for value in row):
                _none(panel, rows, name, worded("none"))
            else:
                _numbers(panel, rows, name, measure.unit, thresholds.get(name))
        for panel in panels[len(measures) + 1 :]:
            panel.set_axis_off()
        return save(figure, target, f"{printable(answer.text)} · {provenance(answer)}")


def _rows(answer: Heads, key: str) -> list[list[Any]]:
    """One value of each head, layer by layer."""
    values = [getattr(entry, key) for entry in answer.heads]
    count = answer.model.heads
    return [values[first : first + count] for first in range(0, len(values), count)]


def _kinds(panel: Axes, answer: Heads, across: int) -> None:
    """Draw each head as a tile with its kind's colour and sign, and a legend."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    rows = _rows(answer, "label")
    panel.imshow([[to_rgb(SIGNS[name].colour or _BACK) for name in row] for row in rows], aspect="auto")
    if len(rows) * len(rows[0]) <= _SIGNED:
        for layer, row in enumerate(rows):
            for head, name in enumerate(row):
                if not SIGNS[name].fills:
                    colour = "black" if SIGNS[name].colour else "gray"
                    panel.text(head, layer, SIGNS[name].sign, ha="center", va="center", fontsize=9, color=colour)
    _axes(panel, rows, worded("kind"))
    there = {name for row in rows for name in row}
    names = kind_names(answer)
    patches = [
        Patch(facecolor=SIGNS[name].colour or _BACK, edgecolor="gray", linewidth=0.5, label=f"{names[name]}: {when}")
        for name, (when, _) in rules(answer).items()
        if name in there
    ]
    panel.figure.legend(handles=patches, loc="outside lower center", ncols=across, frameon=False, fontsize=9)


def _numbers(panel: Axes, rows: Sequence[Sequence[float | None]], title: str, unit: str, above: float | None) -> None:
    """Draw one measure of each head, with a dot where it exceeds the threshold of a label."""
    from matplotlib import colormaps

    colours = colormaps["cividis"].with_extremes(bad=_BACK)
    values = [[math.nan if value is None else value for value in row] for row in rows]
    image = panel.imshow(values, aspect="auto", cmap=colours, vmin=0, vmax=1 if unit == "share" else None)
    enough = ""
    if above is not None:
        dots = [(head, layer) for layer, row in enumerate(values) for head, value in enumerate(row) if value > above]
        xs, ys = [head for head, _ in dots], [layer for _, layer in dots]
        panel.scatter(xs, ys, s=9, c="white", edgecolors="black", linewidths=0.6)
        enough = "  ○ " + worded("above {value}", value=f"{above:g}")
    units = {"nats": worded("nats"), "tokens": worded("tokens"), "share": worded("share")}
    _axes(panel, rows, f"{title} ({units.get(unit, unit)}){enough}")
    bar = panel.figure.colorbar(image, ax=panel, fraction=0.05, pad=0.03)
    bar.outline.set_visible(False)


def _none(panel: Axes, rows: Sequence[Sequence[object]], title: str, why: str) -> None:
    """Draw an empty panel with the reason."""
    panel.imshow([[0.0] * len(row) for row in rows], aspect="auto", cmap="Greys", vmin=0, vmax=1)
    panel.text(0.5, 0.5, why, ha="center", va="center", transform=panel.transAxes, color="gray")
    _axes(panel, rows, title)


def _axes(panel: Axes, rows: Sequence[Sequence[object]], title: str) -> None:
    for axis, count in ((panel.xaxis, len(rows[0])), (panel.yaxis, len(rows))):
        step = 1 if count <= 12 else 2 if count <= 24 else 5
        places = range(0, count, step)
        axis.set_ticks(places, [str(place) for place in places], fontsize=7)
        axis.set_tick_params(length=0)
        edges = [place - 0.5 for place in range(1, count)]
        draw = panel.axvline if axis is panel.xaxis else panel.axhline
        for edge in edges:
            draw(edge, color="white", linewidth=0.8 if count <= 24 else 0.3)
    panel.spines[:].set_visible(False)
    panel.set_title(title, fontsize=9)
    panel.set_xlabel(worded("head"), fontsize=8)
    panel.set_ylabel(worded("layer"), fontsize=8)

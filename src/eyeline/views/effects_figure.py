"""Effects as a PNG: the map of all heads, those that matter most, and looking beside mattering."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from eyeline.views.effects_findings import (
    MOST,
    found,
    measured,
    nice_end,
    number,
    signed,
    stopped,
    token_label,
    unit,
)
from eyeline.views.figure import figures, fonts, png_path, save
from eyeline.views.labels import excerpt, head_name, printable
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.words import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eyeline.answers import Effects

_HELPED, _HINDERED = "#2D8CC8", "#D78C1E"


def save_effects(answer: Effects, path: str | os.PathLike[str]) -> list[str]:
    """Draw effects to a PNG file.

    Args:
        answer: the effects.
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

    layers = len(answer.heads)
    with matplotlib.rc_context({"font.family": fonts(), "font.size": 9}):
        figure = empty(12.0, min(max(0.22 * layers + 4.5, 7.0), 14.0))
        before, inside, after = excerpt(printable(answer.text), None, 110)
        lines = [before + inside + after, provenance(answer), *reading_notes(answer.trace, answer.unknown)]
        lines += [*map(printable, answer.notes), measured(answer), *filter(None, [stopped(answer)]), found(answer)]
        figure.suptitle("\n".join(lines), fontsize=11).set_parse_math(False)
        panels = figure.subplots(2, 2, height_ratios=(max(layers / 12, 1.0), 1.0)).ravel()
        _map(panels[0], answer)
        _bars(panels[1], answer)
        _beside(panels[2], answer, "weight")
        _beside(panels[3], answer, "passed")
        return save(figure, target, f"{printable(answer.text)} · {provenance(answer)}")


def _map(panel: Axes, answer: Effects) -> None:
    """Every head's effect, on a scale that is symmetric about 0 where effects have signs."""
    from matplotlib.colors import LinearSegmentedColormap

    sizes = np.abs(answer.heads[answer.measured])
    end = nice_end(float(sizes.max(initial=0.0)))
    ends = [_HINDERED, "white", _HELPED] if signed(answer) else ["white", _HELPED]
    colours = LinearSegmentedColormap.from_list("effects", ends).with_extremes(bad="#EEEEEE")
    shown = np.ma.masked_invalid(answer.heads)
    image = panel.imshow(shown, aspect="auto", cmap=colours, vmin=-end if signed(answer) else 0.0, vmax=end)
    panel.set_title(worded("Effect of each head ({unit})", unit=unit(answer)), fontsize=9)
    panel.set_xlabel(worded("head"), fontsize=8)
    panel.set_ylabel(worded("layer"), fontsize=8)
    panel.tick_params(labelsize=7, length=0)
    panel.spines[:].set_visible(False)
    panel.figure.colorbar(image, ax=panel, fraction=0.05, pad=0.03).outline.set_visible(False)


def _bars(panel: Axes, answer: Effects) -> None:
    """The heads and looks that matter most, as bars from 0 on one scale."""
    rows = [(head_name(*place), float(answer.heads[place])) for place in answer.ordered[:MOST]]
    rows += [
        (
            f"{head_name(edge.layer, edge.head)} {token_label(answer, edge.query)} → {token_label(answer, edge.key)}",
            edge.effect,
        )
        for edge in answer.edges[:MOST]
    ]
    places = range(len(rows))
    colours = [_HINDERED if effect < 0 else _HELPED for _, effect in rows]
    panel.barh(places, [effect for _, effect in rows], color=colours)
    panel.set_yticks(places)
    for label, (name, _) in zip(panel.set_yticklabels([name for name, _ in rows], fontsize=7), rows, strict=True):
        label.set_text(name)
        label.set_parse_math(False)
    panel.invert_yaxis()
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_title(worded("The heads that matter most, and looks ({unit})", unit=unit(answer)), fontsize=9)
    panel.spines[["top", "right"]].set_visible(False)


def _beside(panel: Axes, answer: Effects, of: str) -> None:
    """Each head as a dot: how hard it looks, and the size of its effect."""
    name = worded("weight") if of == "weight" else worded("passed on")
    numbers = answer.looks if of == "weight" else answer.passed
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_xlabel(name, fontsize=8)
    panel.set_ylabel(worded("size of the effect ({unit})", unit=unit(answer)), fontsize=8)
    if numbers is None:
        panel.text(0.5, 0.5, worded("not known"), ha="center", va="center", transform=panel.transAxes, color="gray")
        return
    here = answer.measured
    sizes = np.abs(answer.heads[here])
    panel.scatter(numbers[here], sizes, s=12, color=_HELPED, alpha=0.6, linewidths=0)
    panel.set_xlim(left=0)
    panel.set_ylim(bottom=0)
    for place in answer.ordered[:3]:
        panel.annotate(
            f"{head_name(*place)} {number(answer, float(answer.heads[place]))}",
            (float(numbers[place]), abs(float(answer.heads[place]))),
            fontsize=7,
            xytext=(3, 2),
            textcoords="offset points",
        )
    found = next((one for one in answer.agreement if one.over == "heads" and one.of == of), None)
    if found is not None:
        by = "–" if found.rank_correlation is None else f"{found.rank_correlation:+.2f}".replace("-", "−")
        panel.set_title(
            worded("Do looking and mattering agree? Rank correlation {by}, {count} heads", by=by, count=found.count),
            fontsize=9,
        )

"""The table of a split score as a PNG: sources × sources, on a scale with 0 in the middle."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from eyeline.views import why_findings as findings
from eyeline.views.figure import figures, fonts, png_path, save
from eyeline.views.labels import excerpt, marked, printable
from eyeline.views.provenance import provenance
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Why

_WIDEST = 60  # the most sources that are drawn one by one
_NUMBERED = 12  # the largest number of sources for cells with numbers


def save_why(answer: Why, path: str | os.PathLike[str]) -> list[str]:
    """Draw the table: rows are what was written at the query's token, columns at the key's. A layer's heads, and its
    biases, are taken together where there are more than 60 sources.

    Args:
        answer: the answer.
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

    drawn = answer.grouped() if max(answer.table.shape) > _WIDEST else answer
    S, T = drawn.table.shape
    side = min(max(0.22 * max(S, T) + 3, 5.5), 18)
    end = findings.round_up(float(np.abs(drawn.table).max()))
    with matplotlib.rc_context({"font.family": fonts(), "axes.spines.top": False, "axes.spines.right": False}):
        figure = empty(side + 1, side + 1)
        before, inside, after = excerpt(printable(answer.text), None, round(side * 8))
        lines = [
            before + inside + after,
            provenance(answer),
            findings.title(answer, marked),
            findings.score_line(answer),
            findings.found(drawn, marked),
        ]
        title = "\n".join(textwrap.fill(line, round(13 * side)) for line in lines)
        figure.suptitle(title, fontsize=10).set_parse_math(False)
        panel = figure.subplots()
        image = panel.imshow(drawn.table, cmap="RdBu_r", vmin=-end, vmax=end)
        size = min(9.0, max(4.0, 500 / max(S, T)))
        columns, rows = (
            [findings.source_name(one) for one in sources] for sources in (drawn.key_sources, drawn.query_sources)
        )
        panel.set_xticks(range(T), columns, rotation=90, fontsize=size)
        panel.set_yticks(range(S), rows, fontsize=size)
        key, query = ({"token": marked(one.text), "index": one.index} for one in (answer.key, answer.query))
        panel.set_xlabel(worded("written at the key, {token} (#{index})", **key)).set_parse_math(False)
        panel.set_ylabel(worded("written at the query, {token} (#{index})", **query)).set_parse_math(False)
        if max(S, T) <= _NUMBERED:
            for (i, j), value in np.ndenumerate(drawn.table):
                dark = abs(value) > 0.6 * end
                panel.text(
                    j, i, f"{value:.2g}", ha="center", va="center", fontsize=7, color="white" if dark else "black"
                )
        bar = figure.colorbar(image, ax=panel, shrink=0.6)
        bar.set_label(worded("adds to the score; all cells add up to {score}", score=findings.signed(answer.score)))
        return save(figure, target, f"{printable(answer.text)} · {provenance(answer)}")

"""An explanation or a comparison for a notebook: HTML without scripts, its words escaped, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence

from eyeline.views.document import Comparison, Explanation, Generated, LayerCosine, Look, Run, Unit
from eyeline.views.findings import basis, changes, compared, found, heading, set_aside_names, unchanged
from eyeline.views.generated import HEADING, explained, labelled, new_span, piece, top
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt, named, percent, printable, seen
from eyeline.views.scale import bar_ceiling, shade_ceiling

# Colours that show on white and on black; the text takes the page's own.
_COLOURS = ("45,140,200", "215,140,30")
_CELL = "padding:2px 8px;border:none;background:none;color:inherit"

_HIDDEN = '<div style="opacity:.5">–</div>'


def words(text: str) -> str:
    """Words of the user's: escaped, and kept to their own reading direction."""
    return f"<bdi>{html.escape(printable(text))}</bdi>"


def explanation_html(document: Explanation) -> str:
    """An explanation as a piece of HTML."""
    question, units, runs = document["question"], labelled(document), document["runs"]
    spans = [(units[index]["start"] or 0, units[index]["end"] or 0) for index in question["units"]]
    parts = [
        _title(document["text"], (spans[0][0], spans[-1][1]) if spans else new_span(document)),
        small(html.escape(heading(document))),
        *([small(html.escape(same))] if (same := unchanged(document)) else []),
    ]
    if document["generated"] is not None:
        parts += _generated(document, document["generated"])
    if runs[0]["steps"] is not None:
        parts.append(_drawn(document))
    elif question["token"] is None:
        shown = [units[index] for index in document["shown"]]
        heavy = [place for place, unit in enumerate(shown) if unit["start"] is None]
        ceiling, _ = shade_ceiling([run["matrix"]["shares"] for run in runs], heavy)
        for number, run in enumerate(runs):
            parts.append(
                strong(_run_name("Who looks at whom", run, runs))
                + matrix(run["matrix"]["shares"], shown, ceiling, _COLOURS[number], run["matrix"]["hidden"])
            )
        parts.append(small(basis(document, "", words)))
    else:
        name = words(question["token"])
        parts.append(strong(f"{name} looks at"))
        charts = [(run["name"] if len(runs) > 1 else "", run["looks_at"] or []) for run in runs]
        parts += [bars(charts, units, question["units"]), small(basis(document, name, words))]
    if runs[0]["steps"] is None:
        parts.append(strong(found(document, words)))
        parts += [strong(changes(document, words))] if len(runs) > 1 else []
    if question["token"] is not None and runs[0]["steps"] is None:
        parts += [_heads(run, _run_name("", run, runs), question["layer"], question["units"]) for run in runs]
        moved = [(_run_name("cosine", run, runs), run["moved"] or []) for run in runs]
        parts.append(strong(f"How far {words(question['token'])} has moved from its own embedding") + _cosines(moved))
    return box(parts)


def comparison_html(document: Comparison) -> str:
    """A comparison as a piece of HTML."""
    question, sides = document["question"], document["sides"]
    parts = []
    for side in sides:
        spans = [
            (side["units"][index]["start"] or 0, side["units"][index]["end"] or 0) for index in side["token_units"]
        ]
        parts.append(_title(side["text"], (spans[0][0], spans[-1][1]), side["name"]))
    name = words(question["token"])
    parts += [small(html.escape(heading(document))), strong(f"How alike {name} is in A and in B")]
    parts.append(_cosines([("cosine", document["cosines"])]))
    for side in sides:
        parts.append(strong(f"In {side['name']}, {name} looks at"))
        parts.append(bars([("", side["looks_at"])], side["units"], side["token_units"]))
        if side["set_aside"]:
            parts.append(
                small(f"{set_aside_names(side['units'], words)}, set aside, took {percent(side['set_aside'])}.")
            )
    parts += [strong(line) for line in compared(document, words)]
    return box(parts)


def box(parts: Sequence[str]) -> str:
    style = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;color:inherit;max-width:60em"
    return f'<div class="eyeline" style="{style}">{"".join(parts)}</div>'


def _title(text: str, span: tuple[int, int] | None, name: str = "") -> str:
    before, inside, after = (html.escape(printable(part)) for part in excerpt(text, span, 200))
    inside = f"<b>{inside}</b>" if span else inside
    return f'<div style="font-size:16px">{name} <bdi>{before}{inside}{after}</bdi></div>'


def small(text: str) -> str:
    return f'<div style="opacity:.7;font-size:12px">{text}</div>'


def strong(text: str) -> str:
    return f'<div style="font-weight:600;margin-top:.8em">{text}</div>'


def _run_name(text: str, run: Run, runs: Sequence[Run]) -> str:
    return f"{text}: {html.escape(run['name'])}" if len(runs) > 1 else text


def table(rows: Sequence[str]) -> str:
    return f'<table style="border-collapse:collapse;border:none;color:inherit">{"".join(rows)}</table>'


def row(cells: Sequence[str], fills: Sequence[str] = ()) -> str:
    """A row of a table; the first cell is its label, and `fills` are the backgrounds of the others."""
    styles = ["text-align:left", *(f"text-align:right;background:{fill}" for fill in fills or ["none"] * len(cells))]
    inner = "".join(f'<td style="{_CELL};{style}">{cell}</td>' for cell, style in zip(cells, styles, strict=False))
    return f'<tr style="background:none">{inner}</tr>'


def bars(charts: Sequence[tuple[str, Sequence[Look]]], units: Sequence[Unit], own: Sequence[int]) -> str:
    shown = [[look for look in looks if look["share"] is not None] for _, looks in charts]
    ceiling, _ = bar_ceiling(*([look["share"] or 0.0 for look in looks] for looks in shown))
    rows = [row(["", *(cell for name, _ in charts for cell in (html.escape(name), ""))])] if len(charts) > 1 else []
    for place, look in enumerate(shown[0]):
        label = f"<b>{_label(units[look['unit']])}</b>" if look["unit"] in own else _label(units[look["unit"]])
        cells = [label]
        for number, looks in enumerate(shown):
            share = looks[place]["share"] or 0.0
            width = 240 * min(share / ceiling, 1)
            edge = "border-right:3px double currentColor" if share > ceiling * 1.0001 else ""
            bar = f"width:{width:.0f}px;height:1em;background:rgb({_COLOURS[number]});{edge}"
            figure = _HIDDEN if looks[place]["hidden"] else percent(share).replace("<", "&lt;")
            cells += [f'<div style="width:240px"><div style="{bar}"></div></div>', figure]
        rows.append(row(cells))
    return table(rows)


def _label(unit: Unit) -> str:
    return "-" * unit["joins_before"] + words(named(unit["text"])) + "-" * unit["joins_after"]


def matrix(
    shares: Sequence[Sequence[float]],
    shown: Sequence[Unit],
    ceiling: float,
    colour: str = _COLOURS[0],
    hidden: Sequence[Sequence[bool]] | None = None,
) -> str:
    """A table of who gives how much to whom, shaded; a dash is where one may not look."""
    rows = [row(["", *map(_label, shown)])]
    for unit, given, dark in zip(shown, shares, hidden or [[False] * len(shown)] * len(shown), strict=True):
        fills = [f"rgba({colour},{min(share / ceiling, 1):.2f})" for share in given]
        numbers = [
            _HIDDEN if unseen else percent(share).replace("<", "&lt;") if len(shown) <= 24 else ""
            for share, unseen in zip(given, dark, strict=True)
        ]
        rows.append(row([_label(unit), *numbers], fills))
    return f'<div style="overflow-x:auto">{table(rows)}</div>'


def _generated(document: Explanation, found: Generated) -> list[str]:
    """How the text went on, a row for each new token."""
    rows = [row(["new", "", "probability", "before", '<div style="text-align:left">looked at</div>'])]
    for step in found["steps"]:
        bar = f"width:{80 * step['probability']:.0f}px;height:1em;background:rgb({_COLOURS[0]})"
        seen_most = [f"{_label(document['units'][look['unit']])} {percent(look['share'] or 0.0)}" for look in top(step)]
        rows.append(
            row(
                [
                    f"<b>{piece(step['new'], words)}</b>",
                    f'<div style="width:80px"><div style="{bar}"></div></div>',
                    percent(step["probability"]).replace("<", "&lt;"),
                    piece(step["by"], words),
                    f'<div style="text-align:left">{"&ensp; ".join(seen_most)}</div>',
                ]
            )
        )
    return [strong(HEADING), table(rows), small(explained(document, found, words))]


def _heads(run: Run, name: str, layer: int, own: Sequence[int]) -> str:
    rows = []
    for head in run["hardest_heads"] or []:
        rows.append(
            row([f"head {head['head']}", f"→ {seen(head, own, words)}", percent(head["weight"]).replace("<", "&lt;")])
        )
    title = f"Heads of layer {layer} that look hardest at one word{name}"
    return strong(title) + table(rows) + small("of everything that the head gives, the tokens set aside included")


def _cosines(series: Sequence[tuple[str, Sequence[LayerCosine]]]) -> str:
    rows = [row(["layer", *("embedding" if entry["layer"] is None else str(entry["layer"]) for entry in series[0][1])])]
    rows += [row([name, *(f"{entry['cosine']:.3f}" for entry in entries)]) for name, entries in series]
    return table(rows)


def _drawn(document: Explanation) -> str:
    """The steps, as the terminal draws them."""
    from eyeline.views.steps import steps

    lines = steps(document, Ink("utf-8", 100))
    text = html.escape("\n".join(line.plain for line in lines))
    return f'<pre style="color:inherit;background:none;line-height:1.3">{text}</pre>'

"""The sentence view in a browser: what it must show, from a trace, and what it shows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.traces import Trace
from eyeline.views.page import Page
from tests.pages import FLIES

WORDS = FLIES.split()
Weights = NDArray[np.float64]


def matrix(trace: Trace, layer: int, head: int | str, kind: str = "words") -> Weights:
    """What each unit gives to each, (U, U), of one head, the "mean" or the "max" of all."""

    def spans(line: Any) -> list[tuple[int, int]]:
        return [word.tokens for word in line.words] if kind == "words" else [(at, at + 1) for at in range(len(line))]

    rows, columns = spans(trace.queries), spans(trace.across)
    found = []
    for number in range(trace.model.heads) if isinstance(head, str) else [head]:
        weights = trace.weights(layer, number).astype(np.float64)
        summed = np.stack([weights[:, first:last].sum(axis=1) for first, last in columns], axis=1)
        found.append(np.stack([summed[first:last].mean(axis=0) for first, last in rows]))
    return np.asarray(np.max(found, axis=0) if head == "max" else np.mean(found, axis=0))


def shares(weights: Weights, shown: Any) -> Weights:
    """Rows of weights as shares of what they give to the units that are shown; NaN for the others."""
    result = np.full(weights.shape, np.nan)
    result[:, shown] = weights[:, shown] / weights[:, shown].sum(axis=1, keepdims=True)
    return result


def scale_end(numbers: Any) -> float:
    """The end of the scale of some numbers."""
    return next(end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if np.nanmax(numbers) <= end)


def written(number: float, end: float = 1) -> str:
    """A number as the view writes it, on a scale to `end`."""
    if end <= 0.05:
        return "<0.1%" if 0 < number < 0.0005 else f"{100 * number:.1f}%"
    return "<1%" if 0 < number < 0.005 else f"{int(100 * number + 0.5)}%"


def looked_at(numbers: Weights, own: int | None, names: list[str]) -> list[tuple[str, str]]:
    """The names of units and their numbers, the largest first."""
    end = scale_end(numbers)
    order = np.argsort(-numbers, kind="stable")
    return [("itself" if at == own else names[at], written(numbers[at], end)) for at in order]


def told(verb: str, word: str, names: list[tuple[str, str]], aside: float | None = None) -> str:
    """The sentence of the title line: "“flies” looks mostly at “time” (32%) and itself (27%); …"."""
    named = [f"{name if name == 'itself' else f'“{name}”'} ({share})" for name, share in names[:2]]
    end = "" if aside is None else f"; special tokens take {written(aside)}"
    return f"“{word}” {verb} {' and '.join(named)}{end}."


def plainly(traces: Trace | list[Trace]) -> Page:
    """A page that opens without a word pinned, at the mean of the last layer's heads."""
    traces = [traces] if isinstance(traces, Trace) else traces
    return Page(traces, {"layer": traces[0].model.layers - 1, "head": "mean", "token": None})


def token(page: Any, text: str) -> Any:
    """The element of a word."""
    return page.locator(".token").get_by_text(text, exact=True)


def go(page: Any, words: str) -> None:
    """Have a page show the state that words say."""
    page.evaluate("(words) => { location.hash = words; }", words.replace(" ", "&"))


def bars(page: Any) -> list[tuple[str, str]]:
    """The bars of words: names and numbers."""
    found = page.locator(".bars li:not(.aside)").evaluate_all(
        """(all) => all.map((one) => ["name", "share"].map((part) => one.querySelector(`.bar-${part}`).innerText))"""
    )
    return [(name, number) for name, number in found]


def bar_lengths(page: Any, rows: str = ".bars li:not(.aside)") -> Weights:
    """The lengths of bars, as shares of the room between the scale's ends."""
    return np.array(
        page.locator(rows).evaluate_all(
            """(all) => all.map((one) => {
              const [fill, room] = [".bar-fill", ".bar-room"].map((name) => one.querySelector(name));
              return fill.getBoundingClientRect().width / room.clientWidth;
            })"""
        )
    )


def ribbon_widths(page: Any) -> dict[int, float]:
    """The widths of the drawn links where they begin, by the units at the other ends, in pixels."""
    found = {}
    for path in page.locator(".links path").all():
        points = [tuple(map(float, point.split())) for point in re.findall(r"[-\d.]+ [-\d.]+", path.get_attribute("d"))]
        found[int(path.get_attribute("data-unit"))] = float(np.hypot(*np.subtract(points[0], points[-1])))
    return found


def numbers_beneath(page: Any) -> list[tuple[str, float]]:
    """The numbers beneath words as texts, from the left, with the middle of each in pixels."""
    found = page.locator(".beneath span").evaluate_all(
        """(all) => all.map((one) => {
          const { left, right } = one.getBoundingClientRect();
          return [one.textContent, (left + right) / 2];
        })"""
    )
    return sorted(map(tuple, found), key=lambda number: number[1])


def luminance(colour: str) -> float:
    """The relative luminance of a CSS colour."""
    parts = np.array(re.findall(r"\d+", colour)[:3], float) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])

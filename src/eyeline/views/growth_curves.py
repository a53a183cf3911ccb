"""The cost of attention against the number of tokens: curves in a terminal and as a PNG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eyeline.views.chart import Series, log_chart
from eyeline.views.figure import figures, save
from eyeline.views.ink import Ink
from eyeline.views.measurements import Growth
from eyeline.words import translation, worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.text import Text


def findings(measured: Growth) -> list[str]:
    """The two sentences below the curves.

    >>> from eyeline.views.measurements import Curve, Point
    >>> attention = Curve("attention", [Point(512, 1e-3, None), Point(1024, 4e-3, None)])
    >>> recurrent = Curve("a GRU", [Point(512, 2e-3, None), Point(1024, 4e-3, None)])
    >>> findings(Growth(attention, recurrent, []))[0]
    'From 512 to 1024 tokens, attention took 4.0 times as long and a GRU 2.0 times.'
    """
    half, whole = measured.attention.points[-2:]
    return [
        worded(
            "From {half} to {whole} tokens, attention took {attention:.1f} times as long and {other} {times:.1f} "
            "times.",
            half=half.tokens,
            whole=whole.tokens,
            attention=measured.attention.doubling,
            other=translation(measured.recurrent.name),
            times=measured.recurrent.doubling,
        ),
        worded(
            "Attention's price is n × n: every token looks at every other, at once. A GRU's is n: one token after "
            "another."
        ),
    ]


def times(measured: Growth) -> list[Series]:
    """The curves of time."""
    curves = (measured.attention, measured.recurrent)
    return [
        Series(translation(curve.name), [(point.tokens, point.seconds) for point in curve.points]) for curve in curves
    ]


def memories(measured: Growth) -> list[Series]:
    """The curves of memory, including the full matrix's; none where memory couldn't be measured."""
    found = []
    for curve in (measured.attention, measured.recurrent):
        points = [(point.tokens, point.megabytes) for point in curve.points if point.megabytes]
        if len(points) > 1:
            found.append(Series(translation(curve.name), points))
    return (
        [*found, Series(worded("the n × n weights, were they kept (reckoned)"), measured.matrix, guide=True)]
        if found
        else []
    )


def growth(measured: Growth, ink: Ink) -> Iterator[Text]:
    """Draw the curves of time and memory as lines for a terminal, with their findings."""
    from rich.text import Text

    yield Text(worded("Time against the number of tokens"), style="bold")
    yield from log_chart(times(measured), seconds, ink)
    if drawn := memories(measured):
        yield Text()
        yield Text(worded("Memory beyond the inputs"), style="bold")
        yield from log_chart(drawn, amount, ink)
    yield Text()
    yield Text("\n".join(ink.wrapped(" ".join(findings(measured)), 0)), style="bold")


def save_growth(measured: Growth, target: Path) -> None:
    """Draw the curves as a PNG, which is written completely or not at all.

    Raises:
        ExtraError: if matplotlib isn't installed.
        OSError: if the file can't be written.
    """
    panels = [(worded("seconds"), times(measured))]
    if drawn := memories(measured):
        panels.append((worded("megabytes beyond the inputs"), drawn))
    figure = figures("figure")(5.5 * len(panels), 4.8)
    for axes, (unit, series) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _panel(axes, unit, series)
    figure.suptitle("\n".join(findings(measured)), fontsize=10)
    save(figure, target, worded("the growth of attention's cost, measured on this machine"))


def _panel(axes: Axes, unit: str, series: Sequence[Series]) -> None:
    for curve, colour in zip(series, ("tab:blue", "tab:orange", "tab:gray"), strict=False):
        style = "--" if curve.guide else "o-"
        axes.plot(*zip(*curve.points, strict=True), style, color=colour, label=curve.name)
    xs = sorted({x for curve in series for x, _ in curve.points})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(xs, [f"{x:.0f}" for x in xs])
    axes.set_xlabel(worded("n, tokens"))
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)


def seconds(value: float) -> str:
    """
    >>> seconds(0.001), seconds(10.0)
    ('1 ms', '10 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size * 0.999:
            return f"{value / size:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def amount(value: float) -> str:
    """
    >>> amount(0.1), amount(1000.0)
    ('0.1 MB', '1 GB')
    """
    return f"{value / 1000:.3g} GB" if value >= 999 else f"{value:.3g} MB"

"""The table that `eyeline bench` prints."""

from __future__ import annotations

from eyeline.views.ink import Ink
from eyeline.views.measurements import Measured, Surroundings, Timing
from eyeline.words import translation, worded

#: The headings of the table, the width of each column, and whether it is on the right.
_BESIDE_TORCH = (
    *(("", 24, False), ("heads, n, d", 25, False), ("Eyeline", 8, True), ("error", 5, True)),
    *(("torch", 8, True), ("error", 5, True), ("in a model", 10, True), ("alone", 7, True)),
)
_WITHOUT_TORCH = (
    *(("", 24, False), ("heads, n, d", 25, False), ("in a model", 10, True), ("of peak", 7, True)),
    *(("alone", 8, True), ("of peak", 7, True), ("error", 5, True)),
)


def heading(here: Surroundings, ink: Ink) -> list[str]:
    """The lines above the table: the machine, the two ways, and the column headings."""
    lines = [
        worded(
            "{processor}, {bits}-bit vectors, {threads}, peak {peak:.0f} GF/s; float32; {beside}",
            processor=here.processor,
            bits=here.bits,
            threads=worded("{count} threads", count=here.threads) if here.threads > 1 else worded("1 thread"),
            peak=here.peak,
            beside=worded("beside torch {version}", version=here.torch)
            if here.torch
            else worded("torch isn't installed, and nothing is measured beside it"),
        ),
        worded("In a model: each call comes at once after the matrix product that precedes it in a model, in the"),
        worded("same library's threads. Alone: after a pause in which other libraries' threads fall asleep."),
    ]
    if here.torch:
        lines.append(worded("The last two columns are torch's time ÷ Eyeline's; the times and errors are in a model."))
    if here.busy:
        lines.append(worded("Something else keeps a processor busy: what follows is slower than this machine is."))
    columns = _BESIDE_TORCH if here.torch else _WITHOUT_TORCH
    return [*(ink.own(line) for line in lines), "", _line(_headings(columns), columns, ink)]


def row(found: Measured, ink: Ink) -> str:
    """One row of the table. Errors are root mean square errors of the output against float64; a ratio is torch's time
    divided by ours."""
    ours, peak = found.ours, found.of_peak
    if found.torch and found.ratio is not None:
        ratios = (found.ratio.in_a_model, found.ratio.alone)
        times = [f"{ratio:.{2 if ratio < 99 else 0}f} ×" for ratio in ratios]
        cells = [translation(found.name), found.sizes, *_in_a_model(ours), *_in_a_model(found.torch), *times]
        return _line(cells, _BESIDE_TORCH, ink)
    shares = (f"{peak.in_a_model:.0%}", f"{peak.alone:.0%}") if peak else ("", "")
    times = [_milliseconds(ours.seconds.in_a_model), _milliseconds(ours.seconds.alone)]
    cells = [translation(found.name), found.sizes, times[0], shares[0], times[1], shares[1], f"{ours.error:.0e}"]
    return _line(cells, _WITHOUT_TORCH, ink)


def _headings(columns: tuple[tuple[str, int, bool], ...]) -> list[str]:
    said = {
        "heads, n, d": worded("heads, n, d"),
        "error": worded("error"),
        "in a model": worded("in a model"),
        "alone": worded("alone"),
        "of peak": worded("of peak"),
    }
    return [said.get(name, name) for name, _, _ in columns]


def _in_a_model(timing: Timing) -> tuple[str, str]:
    return _milliseconds(timing.seconds.in_a_model), f"{timing.error:.0e}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"


def _line(cells: list[str], columns: tuple[tuple[str, int, bool], ...], ink: Ink) -> str:
    fitted = (ink.fit(ink.own(cell), width, right) for cell, (_, width, right) in zip(cells, columns, strict=True))
    return " ".join(fitted).rstrip()

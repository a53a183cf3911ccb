"""The table that `eyeline bench` prints."""

from __future__ import annotations

from eyeline.views.ink import Ink
from eyeline.views.measurements import Measured, Surroundings, Timing

_COLUMNS = ((24, False), (22, False), (9, True), (9, True), (9, True), (9, True), (8, True))


def heading(here: Surroundings, ink: Ink) -> list[str]:
    """The lines above the table: the machine, and the column headings."""
    beside = f"beside torch {here.torch}" if here.torch else "torch isn't installed, and nothing is measured beside it"
    lines = [
        f"{here.processor}, {here.bits}-bit vectors, {here.threads} thread{'s' * (here.threads > 1)}, peak "
        f"{here.peak:.0f} GF/s; float32; {beside}",
    ]
    if here.busy:
        lines.append("Something else keeps a processor busy: what follows is slower than this machine is.")
    names = ["", "heads, n, d", "Eyeline", "error", *(("torch", "error", "ratio") if here.torch else ("of peak",))]
    return [*(ink.own(line) for line in lines), "", _line(names, ink)]


def row(found: Measured, ink: Ink) -> str:
    """One row of the table. Errors are root mean square errors of the output against float64; the ratio is torch's time
    divided by ours."""
    cells = [found.name, found.sizes, *_timing(found.ours)]
    if found.torch and found.ratio is not None:
        cells += [*_timing(found.torch), f"{found.ratio:.2f} ×"]
    elif found.of_peak is not None:
        cells.append(f"{found.of_peak:.0%}")
    return _line(cells, ink)


def _timing(timing: Timing) -> tuple[str, str]:
    milliseconds = timing.seconds * 1e3
    return f"{milliseconds:.{1 if milliseconds < 100 else 0}f} ms", f"{timing.error:.0e}"


def _line(cells: list[str], ink: Ink) -> str:
    fitted = (ink.fit(ink.own(cell), width, right) for cell, (width, right) in zip(cells, _COLUMNS, strict=False))
    return " ".join(fitted).rstrip()

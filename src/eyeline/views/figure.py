"""The heat map as a PNG. It needs matplotlib, which is an extra."""

from __future__ import annotations

import math
import os
import re
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyeline.views.document import Explanation, Run, Unit
from eyeline.views.findings import changes, found, heading
from eyeline.views.generated import labelled
from eyeline.views.labels import excerpt, marked, named, percent, printable
from eyeline.views.scale import shade_ceiling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Fonts that between them have most scripts; those that are installed are taken in this order.
_FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "Segoe UI Emoji",
    "Arial Unicode MS",
)
_NUMBERED = 16  # units up to which cells hold their numbers
_MISSING = re.compile(r"Glyph (\d+) ")


class ExtraError(ValueError):
    """A drawing needs an optional package that isn't installed."""


def save_heat_map(document: Explanation, path: str | os.PathLike[str]) -> list[str]:
    """Draw who looks at whom, one panel for each run; the row of the token that was asked about stands out.

    Args:
        document: the explanation.
        path: a file name that ends in .png; it is written whole or not at all.

    Returns:
        Characters for which no installed font has a picture.

    Raises:
        ExtraError: if matplotlib isn't installed.
        ValueError: if the path doesn't end in .png.
        OSError: if the file can't be written.
    """
    target = png_path(path)
    empty = figures("png")
    import matplotlib

    runs, units = document["runs"], labelled(document)
    shown = [units[index] for index in document["shown"]]
    side = min(max(0.55 * len(shown) + 1.5, 4.5), 24)
    with matplotlib.rc_context({"font.family": fonts(), "axes.spines.top": False, "axes.spines.right": False}):
        figure = empty(side * len(runs) + 0.8, side + 0.7)
        before, inside, after = excerpt(printable(document["text"]), None, round(side * len(runs) * 8))
        sentences = [found(document, marked)] + ([changes(document, marked)] if len(runs) > 1 else [])
        lines = [before + inside + after, heading(document), *sentences]
        title = "\n".join(textwrap.fill(line, round(13 * side * len(runs))) for line in lines)
        figure.suptitle(title, fontsize=10).set_parse_math(False)
        heavy = [place for place, unit in enumerate(shown) if unit["start"] is None]
        ceiling, beyond = shade_ceiling([run["matrix"]["shares"] for run in runs], heavy)
        images = []
        axes = figure.subplots(1, len(runs), squeeze=False)[0]
        for panel, run in zip(axes, runs, strict=True):
            images.append(_panel(panel, run, shown, ceiling))
            own = [place for place, index in enumerate(document["shown"]) if index in document["question"]["units"]]
            if own:
                panel.axhspan(own[0] - 0.5, own[-1] + 0.5, fill=False, edgecolor="tab:orange", linewidth=2)
            if len(runs) > 1:
                panel.set_title(run["name"], fontsize=10).set_parse_math(False)
        bar = figure.colorbar(images[0], ax=list(axes), shrink=0.6, extend="max" if beyond else "neither")
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        return save(figure, target)


def png_path(path: str | os.PathLike[str]) -> Path:
    """The path of a PNG file, checked.

    Raises:
        ValueError: if it doesn't end in .png.
    """
    target = Path(path)
    if target.suffix.lower() != ".png":
        raise ValueError(f"png must be a file name that ends in .png, got {os.fspath(path)!r}")
    return target


def figures(name: str) -> Callable[[float, float], Figure]:
    """A function that makes an empty figure of a width and a height in inches.

    Raises:
        ExtraError: if matplotlib, which the option `name` needs, isn't installed.
    """
    try:
        import_module("matplotlib")  # the parts below may be there without it, where a test has taken it away
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ExtraError(f"{name} needs matplotlib, which isn't installed: pip install 'eyeline[figures]'") from None

    def empty(wide: float, high: float) -> Figure:
        figure = Figure(figsize=(wide, high), layout="constrained")
        FigureCanvasAgg(figure)
        return figure

    return empty


def fonts() -> list[str]:
    """The installed fonts that a figure may need, in order of preference."""
    from matplotlib import font_manager

    here = set(font_manager.get_font_names())
    return [name for name in _FONTS if name in here] or ["sans-serif"]


def _panel(panel: Axes, run: Run, shown: Sequence[Unit], ceiling: float) -> Any:
    shares, hidden = run["matrix"]["shares"], run["matrix"]["hidden"]
    image = panel.imshow(shares, cmap="Blues", vmin=0, vmax=ceiling)
    if hidden is not None:
        # What may not be looked at is grey, not the white of nothing.
        panel.imshow([[1.0 if unseen else math.nan for unseen in row] for row in hidden], cmap="Greys", vmin=0, vmax=8)
    labels = ["-" * unit["joins_before"] + printable(named(unit["text"])) + "-" * unit["joins_after"] for unit in shown]
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
                figure = "–" if hidden and hidden[i][j] else percent(share)
                panel.text(j, i, figure, ha="center", va="center", fontsize=8, color=ink)
    return image


def save(figure: Figure, target: Path) -> list[str]:
    """Write a PNG beside the target, then rename it, so that the file is whole or not there.

    Returns:
        Characters for which no installed font has a picture.

    Raises:
        OSError: if the file can't be written.
    """
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=".png")
        os.close(handle)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure.savefig(name, format="png", dpi=150, bbox_inches="tight")
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
        name = ""
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None
    finally:
        if name:
            os.unlink(name)
    matches = [_MISSING.match(str(warning.message)) for warning in caught]
    return sorted({chr(int(match[1])) for match in matches if match})


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

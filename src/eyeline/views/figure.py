"""PNG files, drawn with matplotlib, which is an optional dependency."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from eyeline.version import VERSION
from eyeline.words import worded

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Fonts that together cover most scripts; the installed ones are used in this order.
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


_MISSING = re.compile(r"Glyph (\d+) ")


class ExtraError(ValueError):
    """Raised if a drawing needs an optional package that isn't installed."""


def png_path(path: str | os.PathLike[str]) -> Path:
    """The path of a PNG file, checked.

    Raises:
        ValueError: if it doesn't end in .png.
    """
    target = Path(path)
    if target.suffix.lower() != ".png":
        raise ValueError(worded("png must be a file name that ends in .png, got {fspath!r}", fspath=os.fspath(path)))
    return target


def figures(name: str) -> Callable[[float, float], Figure]:
    """Return a function that makes an empty figure of a width and a height in inches.

    Raises:
        ExtraError: if matplotlib, which the option `name` needs, isn't installed.
    """
    try:
        import_module("matplotlib")  # checked first: a test may hide matplotlib alone, while its submodules are loaded
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ExtraError(
            worded("{name} needs matplotlib, which isn't installed: pip install 'eyeline[figures]'", name=name)
        ) from None

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


def save(figure: Figure, target: Path, about: str) -> list[str]:
    """Write a PNG beside the target, then rename it, so that the file is complete or absent.

    Args:
        figure: the figure.
        target: the file's path.
        about: what it is of; kept in the file too.

    Returns:
        The characters that no installed font has.

    Raises:
        OSError: if the file can't be written.
    """
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=".png")
        os.close(handle)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            metadata = {"Description": about, "Software": f"eyeline {VERSION}"}
            figure.savefig(name, format="png", dpi=150, bbox_inches="tight", metadata=metadata)
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

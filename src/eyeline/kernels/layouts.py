"""The layout of a thread's workspace, as the bytes of its fields in a program's params."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.compiled.params import PANEL, PANEL_LAYOUT, PARAMS, WORKSPACE
from eyeline.kernels.compiled.programs import Program

Array = NDArray[Any]
#: The bytes of a cache line: each part of a workspace begins on one.
LINE = 64


@dataclass(frozen=True)
class Layout:
    """The layout of a thread's workspace, as the bytes of its fields in a program's params.

    Attributes:
        size: bytes of the workspace.
        told: pieces of the params' bytes, each with its offset.
    """

    size: int
    told: tuple[tuple[int, bytes], ...]


def laid_out(
    program: Program, sizes: Mapping[str, int], panels: int = 0, panel: Mapping[str, int] | None = None
) -> Layout:
    """Lay out a workspace with parts of these sizes in bytes, and room for `panels` panels.

    This is slow compared with a small call, so reuse the layout for calls with the same sizes.
    """
    told = []
    if panel is not None:
        places, size = _follow(PANEL_LAYOUT, panel, PANEL.itemsize)
        places["size"] = size
        told.append(_field(program, "panel", places))
        sizes = {"panels": panels * size, **sizes}
    places, size = _follow(WORKSPACE[program], sizes, WORKSPACE[program].itemsize)
    told.append(_field(program, "workspace", places))
    return Layout(size, tuple(told))


def _follow(kind: np.dtype[Any], sizes: Mapping[str, int], begin: int) -> tuple[Array, int]:
    """A record of the parts' offsets, each on a cache line of its own; and the end of the last one."""
    places = np.zeros((), kind)
    begin = whole_lines(begin)
    for name, size in sizes.items():
        places[name] = begin
        begin += whole_lines(size)
    return places, begin


def _field(program: Program, name: str, value: Array) -> tuple[int, bytes]:
    """A field of a program's params: its offset, and its bytes."""
    return offset(program, name), value.tobytes()


def whole_lines(size: int) -> int:
    """`size` bytes, or an address, rounded up to whole cache lines."""
    return -(-size // LINE) * LINE


@cache
def offset(program: Program, name: str) -> int:
    """The offset of a field of a program's params."""
    fields = PARAMS[program].fields
    assert fields is not None
    return int(fields[name][1])

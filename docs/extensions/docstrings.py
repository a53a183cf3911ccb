"""Docstrings are plain text with `code` in backticks: what else means something in reStructuredText is escaped."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

#: Kinds of which napoleon takes what stands before a colon for the type: "Whether it is plain: then …".
_TYPED = ("attribute", "data", "property")
_COLON = "\ue000"
_CODE = re.compile(r"(`[^`]*`)")


def _escaped(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    if what in _TYPED and lines:
        lines[0] = lines[0].replace(":", _COLON)
    example = False  # of a doctest: its lines, and what they print
    for place, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            pieces = _CODE.split(line)
            lines[place] = "".join(
                piece if at % 2 else re.sub(r"([|*])", r"\\\1", piece) for at, piece in enumerate(pieces)
            )
            lines[place] = re.sub(r": ([A-Z])\.$", r": \\\1.", lines[place])  # "batch: B." begins no list


def _with_colons(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    for place, line in enumerate(lines):
        lines[place] = line.replace(_COLON, ":")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _escaped, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _with_colons, priority=600)  # after it
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Docstrings are plain text with `code` in backticks: what else means something in reStructuredText is escaped."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(`[^`]*`)")


def _escaped(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    example = False  # of a doctest: its lines, and what they print
    for place, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            pieces = _CODE.split(line)
            lines[place] = "".join(
                piece if at % 2 else re.sub(r"([|*])", r"\\\1", piece) for at, piece in enumerate(pieces)
            )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _escaped, priority=400)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The base class of all answers: plain data, JSON, and printing, which `views` provides."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from eyeline.version import VERSION
from eyeline.words import worded

# Legal in JSON strings, but control characters to a terminal.
_RAW = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
#: Metadata of a dataclass field that isn't part of the JSON.
PYTHON_ONLY = {"json": False}


@dataclass(frozen=True)
class Renderers:
    """The renderers of one kind of answer. `eyeline.views.attach` sets them, so that answers import no views.

    Attributes:
        rich: returns an object that rich prints, with a method `plain` for text without colours.
        html: returns the HTML for a notebook.
        line: returns the answer in one line.
        csv: returns its numbers as CSV; None if it has no such table.
        png: draws it to a PNG file and returns the characters that no font has; None if it can't be drawn.
    """

    rich: Callable[[Any], Any]
    html: Callable[[Any], str]
    line: Callable[[Any], str]
    csv: Callable[[Any], str] | None = None
    png: Callable[[Any, str | os.PathLike[str]], list[str]] | None = None


class Answer:
    """A result that renders itself as a JSON document, and prints itself in a terminal and a notebook.

    It prints itself once `eyeline.views.attach` is imported, as `eyeline.explain`, `compare`, `rollout` and `heads` do;
    with `eyeline.answers` alone, it prints as its type and text.
    """

    schema: ClassVar[str]
    renderers: ClassVar[Renderers | None] = None

    def document(self) -> dict[str, Any]:
        """The whole answer as plain data, as `--json` prints it. docs/json.md describes each key."""
        return {"schema": self.schema, "version": VERSION, **plain(self)}

    def json(self, *, ascii_only: bool = False) -> str:
        """The JSON that the command prints with `--json`; with `ascii_only`, other characters are escaped."""
        return json_text(self.document(), ascii_only)

    def to_csv(self) -> str:
        """The answer's numbers as CSV, as the command prints with `--csv`."""
        draw = self._shown("csv")
        return str(draw(self))

    def save_png(self, path: str | os.PathLike[str]) -> list[str]:
        """Draw the answer to a PNG file, which is written completely or not at all.

        Args:
            path: the file's path.

        Returns:
            The characters that no installed font has.

        Raises:
            ExtraError: if matplotlib isn't installed.
            OSError: if the file can't be written.
        """
        found: list[str] = self._shown("png")(self, path)
        return found

    def _shown(self, way: str) -> Callable[..., Any]:
        draw = getattr(self.renderers, way, None)
        if draw is None:
            kind = type(self).__name__
            hint = worded("; import eyeline.views.attach shows {kind}s", kind=kind) if self.renderers is None else ""
            raise NotImplementedError(
                worded("{kind} must have a way to be shown as {way}, got none{hint}", kind=kind, way=way, hint=hint)
            )
        return draw  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        if self.renderers is None:
            return f"<{type(self).__name__} {self.schema}>"
        return self.renderers.line(self)

    def __str__(self) -> str:
        return repr(self) if self.renderers is None else str(self.renderers.rich(self).plain())

    def __rich__(self) -> Any:
        return repr(self) if self.renderers is None else self.renderers.rich(self)

    def _repr_html_(self) -> str | None:
        return None if self.renderers is None else self.renderers.html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # IPython in a terminal


def plain(value: Any) -> Any:
    """Convert dataclasses, arrays and tuples to dicts, lists, strings and numbers.

    Numbers are rounded to the seven digits that float32 holds, since the rest differs between machines; NaN becomes
    None.

    >>> plain((np.float64(0.12345678), np.array([[True]]), None, 3))
    [0.1234568, [[True]], None, 3]
    """
    if is_dataclass(value) and not isinstance(value, type):
        kept = (one.name for one in fields(value) if one.metadata.get("json", True))
        return {name: plain(getattr(value, name)) for name in kept}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, (bool, str, np.bool_)):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, (float, np.floating)):
        return None if value != value else float(f"{value:.7g}")
    return int(value) if isinstance(value, np.integer) else value


def json_text(document: dict[str, Any], ascii_only: bool = False) -> str:
    """A document as JSON, one line for each key at the top."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=ascii_only)}" for key, value in document.items()]
    return _RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", "{\n" + ",\n".join(lines) + "\n}")

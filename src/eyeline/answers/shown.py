"""What every answer of this room can do: be printed, drawn in a notebook, and given as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eyeline.views.terminal import Drawing


class Shown:
    """An answer. It has a `document`, all of it as plain data, of which it is drawn."""

    document: Any

    def to_json(self, *, ascii_only: bool = False) -> str:
        """The JSON that the command prints with `--json`; with `ascii_only`, other characters as escapes."""
        from eyeline.answers.documents import json_text

        return json_text(self.document, ascii_only)

    def __rich__(self) -> Drawing:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.__rich__().plain()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # IPython in a terminal

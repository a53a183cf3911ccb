"""The JSON settings of a trace file, each of them checked, since a file may come from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from eyeline.traces.errors import TraceError
from eyeline.words import worded

_MOST = 2**31 - 1


class StoredSettings:
    """An object in the file's JSON: each of its settings is checked, and a `TraceError` names an invalid one.

    Attributes:
        path: the file's path.
        place: the object's path in the JSON, such as "model.".
    """

    def __init__(self, path: Path, place: str, data: Any) -> None:
        self.path, self.place = path, place
        if not isinstance(data, dict):
            name = place.rstrip(".") or worded("its metadata")
            raise TraceError(
                worded(
                    "{path}: {name} must be an object, got {value}; save the trace again",
                    path=path,
                    name=name,
                    value=_short(data),
                )
            )
        self._data = data

    def get(self, name: str) -> Any:
        """The setting, unchecked; None if it is missing."""
        return self._data.get(name)

    def wrong(self, name: str, rule: str) -> NoReturn:
        """Raise `TraceError`: this setting breaks this rule."""
        raise TraceError(
            worded(
                "{path}: {place}{name} must be {rule}, got {value}; save the trace again",
                path=self.path,
                place=self.place,
                name=name,
                rule=rule,
                value=_short(self.get(name)),
            )
        )

    def object(self, name: str, index: int | None = None) -> StoredSettings:
        """The setting as an object; with `index`, an object in a list."""
        value = self.get(name)
        if index is None:
            return StoredSettings(self.path, f"{self.place}{name}.", value)
        return StoredSettings(self.path, f"{self.place}{name}[{index}].", value[index])

    def items(self, name: str) -> list[Any]:
        """The setting as a list."""
        value = self.get(name)
        return value if isinstance(value, list) else self.wrong(name, worded("a list"))

    def text(self, name: str) -> str:
        """The setting as a string of valid Unicode."""
        value: str = self.get(name)
        return value if _is_text(value) else self.wrong(name, worded("a string of valid Unicode"))

    def texts(self, name: str) -> list[str]:
        """The setting as a list of strings of valid Unicode."""
        value = self.items(name)
        return value if all(map(_is_text, value)) else self.wrong(name, worded("strings of valid Unicode"))

    def whole(self, name: str, least: int) -> int:
        """The setting as an integer of at least `least`."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            self.wrong(name, worded("a whole number from {least} to {most}", least=least, most=_MOST))
        return value

    def number(self, name: str) -> float:
        """The setting as a finite number."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e38:
            self.wrong(name, worded("a finite number"))
        return float(value)

    def one_of(self, name: str, *names: Any) -> Any:
        """The setting as one of these names."""
        value = self.get(name)
        return (
            value
            if isinstance(value, str) and value in names
            else self.wrong(name, worded("one of {names}", names=", ".join(names)))
        )


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _short(value: object) -> str:
    text = repr(value) if value is not None else worded("nothing")
    return text if len(text) <= 60 else text[:57] + "..."

"""What a trace file says of itself, believed only as far as it is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from eyeline.traces.errors import TraceError

_MOST = 2**31 - 1


class StoredSettings:
    """An object of the file's JSON: each of its settings is checked, and a `TraceError` names the one that is wrong.

    Attributes:
        path: of the file.
        place: where the object stands in the JSON, such as "model.".
    """

    def __init__(self, path: Path, place: str, data: Any) -> None:
        self.path, self.place = path, place
        if not isinstance(data, dict):
            name = place.rstrip(".") or "its metadata"
            raise TraceError(f"{path}: {name} must be an object, got {_short(data)}; save the trace again")
        self._data = data

    def get(self, name: str) -> Any:
        """The setting as it is, None if it is left out."""
        return self._data.get(name)

    def wrong(self, name: str, rule: str) -> NoReturn:
        """Raise `TraceError`: this setting must be by this rule, and isn't."""
        raise TraceError(
            f"{self.path}: {self.place}{name} must be {rule}, got {_short(self.get(name))}; save the trace again"
        )

    def object(self, name: str, index: int | None = None) -> StoredSettings:
        """An object; of a list, the one at `index`."""
        value = self.get(name)
        if index is None:
            return StoredSettings(self.path, f"{self.place}{name}.", value)
        return StoredSettings(self.path, f"{self.place}{name}[{index}].", value[index])

    def items(self, name: str) -> list[Any]:
        """A list."""
        value = self.get(name)
        return value if isinstance(value, list) else self.wrong(name, "a list")

    def text(self, name: str) -> str:
        """A string of valid Unicode."""
        value: str = self.get(name)
        return value if _is_text(value) else self.wrong(name, "a string of valid Unicode")

    def texts(self, name: str) -> list[str]:
        """A list of strings of valid Unicode."""
        value = self.items(name)
        return value if all(map(_is_text, value)) else self.wrong(name, "strings of valid Unicode")

    def whole(self, name: str, least: int) -> int:
        """A whole number."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            self.wrong(name, f"a whole number from {least} to {_MOST}")
        return value

    def number(self, name: str) -> float:
        """A finite number."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e38:
            self.wrong(name, "a finite number")
        return float(value)

    def one_of(self, name: str, *names: Any) -> Any:
        """One of these names."""
        value = self.get(name)
        return value if isinstance(value, str) and value in names else self.wrong(name, f"one of {', '.join(names)}")


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _short(value: object) -> str:
    text = repr(value) if value is not None else "nothing"
    return text if len(text) <= 60 else text[:57] + "..."

"""A model's config.json, believed only as far as it is checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from eyeline.models.activations import ACTIVATIONS
from eyeline.models.errors import ModelError


@dataclass(frozen=True)
class Config:
    """What config.json says of a model of any family.

    Attributes:
        model_type: its family: "bert", "llama" and so on.
        vocabulary_size: how many token ids there are.
        positions: the most tokens that it can take.
        layers: how many layers.
        heads: H, heads per layer.
        key_heads: G, the heads that keys and values have: fewer where several heads of queries share one.
        head_dim: D, the width of one head.
        width: the length of a token's vector.
        feed_forward_width: the length of the vector between the two halves of a feed-forward layer.
        activation: the function between them.
        norm_epsilon: what norms add to the variance, or to the mean square.
        causal: whether a token looks at none after it, as in a decoder.
    """

    model_type: str
    vocabulary_size: int
    positions: int
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    width: int
    feed_forward_width: int
    activation: str
    norm_epsilon: float

    causal: ClassVar[bool] = False


class ConfigSettings:
    """The settings of a config.json by their names in it. Each is checked, and a `ModelError` says which is wrong.

    A null counts as left out. Code that the file may name (auto_map) is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = _read_json(path)

    def get(self, name: str) -> Any:
        """The setting as it is, None if it is left out."""
        return self._data.get(name)

    def whole(self, name: str, otherwise: int | None = None, least: int = 1) -> int:
        """A whole number; `otherwise` where it is left out, if it may be."""
        value = self._or(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            self.wrong(name, f"a whole number from {least} to {_MOST}")
        return int(value)

    def number(self, name: str, otherwise: float, most: float) -> float:
        """A number between 0 and `most`, neither of them."""
        value = self._or(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < most:
            self.wrong(name, f"a number between 0 and {most:g}")
        return float(value)

    def flag(self, name: str, otherwise: bool = False) -> bool:
        """Whether something is so."""
        value = self._or(name, otherwise)
        if not isinstance(value, bool):
            self.wrong(name, "true or false")
        return bool(value)

    def activation(self, name: str, otherwise: str) -> str:
        """The name of one of `ACTIVATIONS`."""
        value = self._or(name, otherwise)
        if not isinstance(value, str) or value not in ACTIVATIONS:
            self.wrong(name, f"one of {', '.join(ACTIVATIONS)}")
        return str(value)

    def wrong(self, name: str, rule: str) -> None:
        """Raise `ModelError`: this setting must be by this rule, and isn't."""
        value = self.get(name)
        raise ModelError(f"{self.path}: {name} must be {rule}, got {'nothing' if value is None else short(value)}")

    def _or(self, name: str, otherwise: Any) -> Any:
        value = self.get(name)
        return otherwise if value is None else value


_MOST = 2**31 - 1


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ModelError(f"{path} is not JSON, or was cut short; get the file again") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} must hold a JSON object, got {short(data)}; get the file again")
    return data


def short(value: object) -> str:
    """A value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

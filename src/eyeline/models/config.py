"""Reading a model's config.json, with every setting checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from eyeline.models.activations import ACTIVATIONS
from eyeline.models.errors import ModelError
from eyeline.words import system_message, worded

Json = TypeVar("Json", dict[str, Any], list[Any])


@dataclass(frozen=True)
class Config:
    """The configuration of a model of any family.

    Attributes:
        model_type: its family: "bert", "llama" and so on.
        vocabulary_size: the number of token ids.
        positions: the most tokens that it can take.
        layers: the number of layers.
        heads: H, query heads per layer.
        key_heads: G, key/value heads per layer: fewer than H if several query heads share one.
        head_dim: D, the width of one head.
        width: the width of a token's vector.
        feed_forward_width: the inner width of a feed-forward layer.
        activation: the activation function of feed-forward layers.
        norm_epsilon: the epsilon that norms add to the variance, or to the mean square.
        causal: whether tokens look only at themselves and earlier ones, as in a decoder.
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
    """The settings of a config.json, by name. Each is checked on reading; a `ModelError` names the wrong one.

    A null counts as left out. Code that the file may refer to (auto_map) is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data: dict[str, Any] = read_json(path, dict)

    def get(self, name: str) -> Any:
        """The unchecked setting, None if it is left out."""
        return self._data.get(name)

    def whole(self, name: str, otherwise: int | None = None, least: int = 1) -> int:
        """A whole number, `least` or more; `otherwise` if it is left out, unless that is None."""
        value = self._or(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
            self.wrong(name, worded("a whole number from {least} to {most}", least=least, most=_MOST))
        return int(value)

    def number(self, name: str, otherwise: float, most: float) -> float:
        """A number above 0 and below `most`."""
        value = self._or(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < most:
            self.wrong(name, worded("a number between 0 and {most:g}", most=most))
        return float(value)

    def flag(self, name: str, otherwise: bool = False) -> bool:
        """A boolean."""
        value = self._or(name, otherwise)
        if not isinstance(value, bool):
            self.wrong(name, worded("true or false"))
        return bool(value)

    def activation(self, name: str, otherwise: str) -> str:
        """The name of one of `ACTIVATIONS`."""
        value = self._or(name, otherwise)
        if not isinstance(value, str) or value not in ACTIVATIONS:
            self.wrong(name, worded("one of {names}", names=", ".join(ACTIVATIONS)))
        return str(value)

    def wrong(self, name: str, rule: str) -> None:
        """Raise a `ModelError` that this setting breaks this rule."""
        value = self.get(name)
        raise ModelError(
            worded(
                "{path}: {name} must be {rule}, got {what}",
                path=self.path,
                name=name,
                rule=rule,
                what=worded("nothing") if value is None else short(value),
            )
        )

    def _or(self, name: str, otherwise: Any) -> Any:
        value = self.get(name)
        return otherwise if value is None else value


_MOST = 2**31 - 1


def read_json(path: Path, kind: type[Json]) -> Json:
    """A file's JSON, an object (dict) or an array (list).

    Raises:
        ModelError: if it can't be read, is no JSON, or holds something else.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(
            worded("{path} can't be read: {strerror}", path=path, strerror=system_message(error))
        ) from None
    except (ValueError, RecursionError):
        raise ModelError(worded("{path} is not JSON, or was cut short; get the file again", path=path)) from None
    if not isinstance(data, kind):
        name = worded("object") if kind is dict else worded("array")
        raise ModelError(
            worded(
                "{path} must hold a JSON {name}, got {value}; get the file again",
                path=path,
                name=name,
                value=short(data),
            )
        )
    return data


def short(value: object) -> str:
    """A value, abbreviated for an error message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

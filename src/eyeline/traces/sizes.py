"""The sizes of a traced model."""

from __future__ import annotations

from dataclasses import dataclass

#: The sizes that a trace's file holds.
SIZES = ("layers", "heads", "key_heads", "head_dim", "value_dim")


@dataclass(frozen=True)
class Sizes:
    """A model's name and sizes.

    Attributes:
        name: the name or folder that the user gave.
        layers: L. heads: H. key_heads: G, fewer where several heads share keys. head_dim: D. value_dim: E, 0 if values
            were not kept.
        positions: the model's maximum number of tokens; None if it has no limit, or none is known.
    """

    name: str
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    value_dim: int
    positions: int | None = None

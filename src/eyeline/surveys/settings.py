"""The settings that decide a survey's figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """What decides a survey's figures, beside the corpus and the model; two surveys with equal ones can be compared.

    Attributes:
        window: the most tokens that the model reads at once, special ones included.
        overlap: how many tokens of text two windows of a long document have in common.
        block: the characters of text after which a block of documents ends.
        largest, sample: the number of examples for each head: those of largest weight, and a uniform sample.
        classes: the name of the user's function that labels tokens, "module:function"; None for none.
    """

    window: int
    overlap: int
    block: int = 1 << 17
    largest: int = 16
    sample: int = 16
    classes: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The settings as survey.json has them."""
        return asdict(self)

"""The sign and colour of each kind of head in pictures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sign:
    """How a kind of head is drawn.

    Attributes:
        sign: where there is Unicode.
        plain: where there is ASCII alone.
        colour: as HTML has it; none for what should stand back.
        fills: whether the sign is drawn as wide as its cell, as a tile.
    """

    sign: str
    plain: str
    colour: str
    fills: bool = False


#: The colours are those of Okabe and Ito, "Color Universal Design" (2008), which the colour-blind tell apart too.
SIGNS = {
    "induction": Sign("◆", "I", "#F0E442"),
    "previous token": Sign("←", "<", "#D55E00"),
    "next token": Sign("→", ">", "#E69F00"),
    "same token": Sign("=", "=", "#CC79A7"),
    "punctuation": Sign(";", ";", "#009E73"),
    "separator": Sign("▒", "%", "#56B4E9", fills=True),
    "first-token sink": Sign("█", "#", "#0072B2", fills=True),
    "broad": Sign("≈", "~", "#999999"),
    "mixed": Sign("·", ".", ""),
}

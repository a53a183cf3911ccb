"""The sign and colour of each kind of head in pictures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sign:
    """The sign and colour of a kind of head.

    Attributes:
        sign: the sign in Unicode.
        plain: the sign in ASCII.
        colour: the colour in HTML notation; empty for kinds that should recede.
        fills: whether the sign fills the width of its cell, as a tile.
    """

    sign: str
    plain: str
    colour: str
    fills: bool = False


#: The colours of Okabe and Ito, "Color Universal Design" (2008), which colour-blind people can distinguish.
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

"""The options of a recording: what it keeps beside each layer's queries, keys, lse and mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eyeline.readouts import Readout

#: The most tokens of a text whose vectors are all kept for a page, (L + 1) · tokens · width numbers of 4 bytes: 1.4 MB
#: in MiniLM, 9 MB in SmolLM2.
SHORT = 128


@dataclass(frozen=True)
class Keep:
    """The contents of a recording.

    Attributes:
        values: whether to keep each layer's values, which are needed to show a token's new vector.
        vectors: the positions of the tokens whose vectors to keep, before the first layer and after each; "all" for
            every token.
        read: the readouts of each layer's weights to compute while the model runs; see `Trace.seen`.
        measures: whether to compute `Trace.measures` while the model runs; otherwise they are computed at their first
            use.
        changed_scores: whether to accept scores that are more than scaled products (a cap, a bias, sinks). The weights
            of such a trace are exact, but neither a file nor the page can hold it.
    """

    values: bool = True
    vectors: Sequence[int] | Literal["all"] | None = None
    read: tuple[Readout, ...] = ()
    measures: bool = False
    changed_scores: bool = False

    def positions(self, count: int) -> list[int] | None:
        """The positions of the tokens whose vectors to keep, of `count` tokens; None for no vectors."""
        if self.vectors is None:
            return None
        return list(range(count)) if self.vectors == "all" else [int(place) for place in self.vectors]


def short(tokens: int, otherwise: Sequence[int] | None = None) -> Sequence[int] | Literal["all"] | None:
    """The value of `Keep.vectors` for a text of this many tokens: "all" if it is short, else `otherwise`."""
    return "all" if tokens <= SHORT else otherwise

"""What a recording keeps beside each layer's queries, keys, lse and mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eyeline.readouts import Readout


@dataclass(frozen=True)
class Keep:
    """What a recording keeps.

    Attributes:
        values: whether each layer's values are kept, which are needed to see what a token becomes.
        vectors: the positions of the tokens whose vectors are kept before the first layer and after each; "all" for
            every token.
        read: readouts of each layer's weights, read while the model runs; see `Trace.seen`.
        measures: whether the numbers and small pictures of `Trace.measures` are read while the model runs. They are
            computed when they are first asked for if not.
        changed_scores: whether scores that are more than scaled products (a cap, a bias, sinks) may be recorded. The
            weights of such a trace are exact, but neither its file nor the page can hold it.
    """

    values: bool = True
    vectors: Sequence[int] | Literal["all"] | None = None
    read: tuple[Readout, ...] = ()
    measures: bool = False
    changed_scores: bool = False

    def positions(self, count: int) -> list[int] | None:
        """The positions of the tokens whose vectors are kept, of `count` in all; None for no vectors."""
        if self.vectors is None:
            return None
        return list(range(count)) if self.vectors == "all" else [int(place) for place in self.vectors]

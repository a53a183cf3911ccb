"""The base class of edits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.errors import EditError
from eyeline.edits.places import CallPlace, Kind
from eyeline.edits.selection import Which, check_which, indices, with_words_found
from eyeline.words import worded

#: Finds a word among the queries' or the keys' tokens: its positions.
FindWord = Callable[[str, Literal["queries", "keys"]], Sequence[int]]


class EditStage(IntEnum):
    """When an edit acts, whatever its place in the list."""

    INPUTS = 0  # q, k and v are replaced
    HIDING = 1  # pairs are hidden, before the softmax
    WEIGHTS = 2  # a head's weights are replaced: one edit a head
    WEIGHING = 3  # weights are multiplied
    OUTPUT = 4  # a head's output is replaced: one edit a head
    GATING = 5  # the output is multiplied


@dataclass(frozen=True, eq=False, kw_only=True)
class Edit(ABC):
    """What is changed in some heads of some layers.

    Args:
        layer: the layers, from 0; all if not given. A single call of `attention` has none.
        head: the query heads, from 0; all if not given.
        kind: "encoder self", "decoder self" or "cross": needed where a model has several kinds of attention, whose
            layers are counted apart.
    """

    layer: Which = None
    head: Which = None
    kind: Kind | None = None

    #: When it acts.
    stage: ClassVar[EditStage]
    #: The fields that select tokens, and the side whose tokens they are.
    tokens: ClassVar[dict[str, Literal["queries", "keys"]]] = {}

    def __post_init__(self) -> None:
        for name in ("layer", "head"):
            object.__setattr__(self, name, check_which(name, getattr(self, name)))
        for name in self.tokens:
            object.__setattr__(self, name, check_which(name, getattr(self, name), words=True))
        if self.kind is not None and self.kind not in get_args(Kind):
            raise EditError(
                worded(
                    "kind must be one of {get_args}, got {kind!r}",
                    get_args=", ".join(map(repr, get_args(Kind))),
                    kind=self.kind,
                )
            )

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        shown = [f"{name}={_short(value)}" for name, value in given if value is not None]
        return f"{type(self).__name__}({', '.join(shown)})"

    def concerns(self, place: CallPlace, layers: int | None = None) -> bool:
        """Whether it changes this call; `layers` is how many layers of its kind the model has, if known."""
        if place.layer is None or place.kind is None:
            return True
        if self.kind is not None and self.kind != place.kind:
            return False
        if isinstance(self.layer, slice):
            return place.layer in range(place.layer + 1 if layers is None else layers)[self.layer]
        return self.layer is None or place.layer in np.atleast_1d(self.layer)

    def heads_in(self, place: CallPlace) -> tuple[int, ...]:
        """The query heads of the call that it changes.

        Raises:
            EditError: if the call hasn't one of them.
        """
        try:
            return indices("head", self.head, place.heads)
        except EditError as error:
            raise EditError(worded("{error} in {named}", error=error, named=place.named)) from None

    @property
    def has_words(self) -> bool:
        """Whether some of its tokens are words, which must be found in a text first."""
        given = [getattr(self, name) for name in self.tokens]
        return any(isinstance(x, str) or (isinstance(x, tuple) and any(isinstance(y, str) for y in x)) for x in given)

    def with_words_found(self, find: FindWord) -> Self:
        """A copy with positions in place of words."""
        if not self.has_words:
            return self

        def found(name: str, side: Literal["queries", "keys"]) -> Any:
            return with_words_found(getattr(self, name), lambda word: find(word, side))

        return replace(self, **{name: found(name, side) for name, side in self.tokens.items()})

    @abstractmethod
    def define(self, now: Dense64, place: CallPlace) -> None:
        """The definition: what it changes on the whole matrix, at its stage."""

    @abstractmethod
    def lower(self, place: CallPlace) -> CallEdits:
        """The edit of this call, as primitives."""


def spread(rows: NDArray[Any], now: Dense64) -> NDArray[Any]:
    """Rows or columns of the batch, (B or 1, …), for each element, (B, …)."""
    return np.broadcast_to(rows, (len(now.q), *rows.shape[1:]))


def _short(value: object) -> str:
    shape = getattr(value, "shape", ())
    return f"<{' × '.join(map(str, shape))}>" if shape else f"{value!r:.60}"

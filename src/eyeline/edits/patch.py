"""Queries, keys, values or outputs of another run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage, spread
from eyeline.edits.errors import EditError
from eyeline.edits.lowered import NewRows
from eyeline.edits.places import CallPlace
from eyeline.edits.runs import check_reach, layer_of
from eyeline.edits.selection import Tokens, Which, check_which, indices, selected
from eyeline.words import worded


@dataclass(frozen=True, eq=False, repr=False)
class Patch(Edit):
    """A head's queries, keys, values or output taken from another run, at the same positions.

    q and k are as they reach attention, after rotation. A patch of "k" or "v" changes what its query heads alone see;
    `key_head=` takes the whole group that shares a key head.

    Args:
        other: the trace of the other run; of an encoder-decoder, the list of its traces.
        name: "q", "k", "v" or "output".
        positions: the tokens; all if not given.
        key_head: for "k" and "v", key heads from 0 in place of `head`.

    Source: activation patching: Meng et al., "Locating and Editing Factual Associations in GPT" (2022); Heimersheim and
    Nanda, "How to use and interpret activation patching" (2024).
    """

    other: Any
    name: Literal["q", "k", "v", "output"]
    positions: Tokens = None
    key_head: Which = field(default=None, kw_only=True)
    tokens: ClassVar[dict[str, Literal["queries", "keys"]]] = {"positions": "queries"}

    def __post_init__(self) -> None:
        if self.name not in ("q", "k", "v", "output"):
            raise EditError(worded('name must be "q", "k", "v" or "output", got {name!r}', name=self.name))
        if self.key_head is not None and (self.name not in ("k", "v") or self.head is not None):
            raise EditError(
                worded(
                    'key_head must be left out with head=, and with "q" and "output", got {key_head!r}',
                    key_head=self.key_head,
                )
            )
        super().__post_init__()
        object.__setattr__(self, "key_head", check_which("key_head", self.key_head))
        if self.name in ("k", "v"):
            object.__setattr__(self, "tokens", {"positions": "keys"})

    @property
    def stage(self) -> EditStage:  # type: ignore[override]  # of the name
        """When it acts."""
        return EditStage.OUTPUT if self.name == "output" else EditStage.INPUTS

    def heads_in(self, place: CallPlace) -> tuple[int, ...]:
        if self.key_head is None:
            return super().heads_in(place)
        group = place.heads // place.key_heads
        key_heads = indices("key_head", self.key_head, place.key_heads)
        return tuple(head for key_head in key_heads for head in range(key_head * group, (key_head + 1) * group))

    def _new(self, place: CallPlace) -> NewRows:
        heads, layer = self.heads_in(place), layer_of(self.other, place)
        positions = place.keys if self.name in ("k", "v") else place.queries
        rows: Any = layer.output_of(heads) if self.name == "output" else getattr(layer.of_heads(heads), self.name)
        if rows is None:
            raise EditError(worded("other must have kept its values to patch v; record it with values=True"))
        taken = np.where(selected("positions", self.positions, positions), positions, -1)
        check_reach("tokens", rows.shape[1], taken)
        if self.key_head is None or not place.key_heads:
            return NewRows(self.name, heads, rows, taken)
        group = place.heads // place.key_heads
        key_heads = tuple(head // group for head in heads[::group])
        return NewRows(self.name, key_heads, rows[::group], taken, of_groups=True)

    def define(self, now: Dense64, place: CallPlace) -> None:
        heads, new = self.heads_in(place), self._new(place)
        rows = np.repeat(new.rows, place.heads // place.key_heads, axis=0) if new.of_groups else new.rows
        array, taken = getattr(now, self.name), spread(new.taken, now)
        for b in range(len(now.q)):
            for head, theirs in zip(heads, rows, strict=True):
                array[b, head, taken[b] >= 0] = theirs[taken[b][taken[b] >= 0]]

    def lower(self, place: CallPlace) -> CallEdits:
        new = self._new(place)
        return CallEdits(outputs=(new,)) if self.name == "output" else CallEdits(inputs=(new,))

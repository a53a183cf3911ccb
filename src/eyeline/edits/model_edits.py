"""The edits of a whole model, call by call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.edit import Edit, FindWord
from eyeline.edits.errors import EditError
from eyeline.edits.order import lowered, several
from eyeline.edits.places import CallPlace, Kind
from eyeline.edits.selection import indices
from eyeline.words import worded


@dataclass(frozen=True, eq=False)
class Sites:
    """What a model has: the number of its layers, by their kind, and of their heads."""

    layers: Mapping[Kind, int]
    heads: int
    key_heads: int


class ModelEdits:
    """Edits, checked against a model.

    Args:
        edits: the edits.
        sites: what the model has.
        lengths: the real number of tokens of each text of a batch, (B,), if it is padded at the end.

    Raises:
        EditError: if a layer or a head isn't there, or a layer's number may mean several.
    """

    def __init__(self, edits: object, sites: Sites, lengths: NDArray[np.int64] | None = None) -> None:
        self.edits: tuple[Edit, ...] = several(edits)
        self.sites, self._lengths = sites, lengths
        for one in self.edits:
            self._check(one)

    def __bool__(self) -> bool:
        return bool(self.edits)

    def _check(self, one: Edit) -> None:
        sites = self.sites
        kinds = [kind for kind in sites.layers if one.kind in (None, kind)]
        if not kinds:
            raise EditError(
                worded(
                    "kind must be one of this model's, {layers}, got {kind!r} in {one!r}",
                    layers=", ".join(map(repr, sites.layers)),
                    kind=one.kind,
                    one=one,
                )
            )
        if len(kinds) > 1:
            raise EditError(
                worded(
                    "kind must be given, since this model has {kinds}, whose layers are counted apart, got "
                    "{one!r}; add kind={got!r}",
                    kinds=f" {worded('and')} ".join(map(repr, kinds)),
                    one=one,
                    got=kinds[0],
                )
            )
        (kind,) = kinds
        try:
            indices("layer", one.layer, sites.layers[kind])
            nowhere = np.zeros((1, 0), np.int64)
            one.heads_in(CallPlace(sites.heads, sites.key_heads, nowhere, nowhere, 0, kind))
        except EditError as error:
            raise EditError(worded("{error}, in {one!r}", error=error, one=one)) from None

    def with_words_found(self, find: FindWord) -> ModelEdits:
        """A copy with positions in place of words."""
        return ModelEdits([one.with_words_found(find) for one in self.edits], self.sites, self._lengths)

    def padded(self, lengths: NDArray[np.int64]) -> ModelEdits:
        """A copy for a batch of texts of these lengths, (B,)."""
        return ModelEdits(self.edits, self.sites, lengths)

    def of_call(self, kind: Kind, layer: int, queries: NDArray[np.int64], keys: NDArray[np.int64]) -> CallEdits | None:
        """The edits of one call; None if it has none.

        Args:
            kind, layer: its layer.
            queries, keys: the positions of its queries and keys, (B or 1, N) and (B or 1, M), -1 for padding.
        """
        if self._lengths is not None:
            queries, keys = (np.where(at < self._lengths[:, None], at, -1) for at in (queries, keys))
        place = CallPlace(self.sites.heads, self.sites.key_heads, queries, keys, layer, kind)
        return lowered(self.edits, place, self.sites.layers[kind]) or None

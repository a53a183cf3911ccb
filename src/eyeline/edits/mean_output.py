"""A head's output replaced by its mean over other texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.call_edits import CallEdits
from eyeline.edits.dense import Dense64
from eyeline.edits.edit import Edit, EditStage, spread
from eyeline.edits.errors import EditError
from eyeline.edits.lowered import NewRows
from eyeline.edits.places import CallPlace, Kind
from eyeline.words import worded


@dataclass(frozen=True, eq=False, repr=False)
class MeanOutputs:
    """The mean output of each head over the tokens of some texts. Made by `eyeline.mean_outputs`.

    Attributes:
        model: the model's name.
        tokens: the number of tokens, special ones included.
        outputs: float32, (layers, H, E), by the kind of attention.
    """

    model: str
    tokens: int
    outputs: dict[Kind, NDArray[np.float32]]

    def __repr__(self) -> str:
        return f"<MeanOutputs of {self.model} over {self.tokens:,} tokens>"

    def of(self, place: CallPlace, heads: tuple[int, ...]) -> NDArray[Any]:
        """The means of some heads at this place, (heads, E).

        Raises:
            EditError: if the means are of another model.
        """
        kinds = list(self.outputs) if place.kind is None else [place.kind]
        found = self.outputs.get(kinds[0])
        layer = place.layer or 0
        if found is None or layer >= len(found) or place.heads != found.shape[1]:
            raise EditError(
                worded(
                    "means must be of this model, got {value!r}, which has no such heads in {named}",
                    value=self,
                    named=place.named,
                )
            )
        return np.asarray(found[layer, list(heads)])


@dataclass(frozen=True, eq=False, repr=False)
class MeanOutput(Edit):
    """The head's output replaced, at every position, by its mean over the tokens of other texts.

    Args:
        means: what `eyeline.mean_outputs` gives.

    Source: mean ablation: Wang et al., "Interpretability in the Wild" (2022), section 2.1.
    """

    means: MeanOutputs
    stage: ClassVar[EditStage] = EditStage.OUTPUT

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.means, MeanOutputs):
            raise EditError(
                worded("means must be what eyeline.mean_outputs gives, got {type}", type=type(self.means).__name__)
            )

    def _taken(self, place: CallPlace) -> NDArray[np.int64]:
        return np.where(place.queries >= 0, 0, -1)

    def define(self, now: Dense64, place: CallPlace) -> None:
        heads = self.heads_in(place)
        real = spread(self._taken(place), now) >= 0
        for head, mean in zip(heads, self.means.of(place, heads), strict=True):
            now.output[:, head] = np.where(real[..., None], mean, now.output[:, head])

    def lower(self, place: CallPlace) -> CallEdits:
        heads = self.heads_in(place)
        rows = self.means.of(place, heads)[:, None]
        return CallEdits(outputs=(NewRows("output", heads, rows, self._taken(place)),))

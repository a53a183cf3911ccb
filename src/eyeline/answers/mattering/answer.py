"""The answer of `effects`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.entries import ModelEntry, TokenEntry, UnitEntry, UnknownText
from eyeline.answers.mattering.measure import Array, MeasureName
from eyeline.edits import Edit
from eyeline.traces import Trace
from eyeline.words import worded

if TYPE_CHECKING:
    from pandas import DataFrame

#: What a head's output is replaced by.
By = Literal["zero", "mean", "uniform"]


@dataclass(frozen=True)
class NextChoice:
    """A token that may come next: its id, its text, and the text that was asked for, of which it may be the beginning.

    Attributes:
        probability: of the run itself.
    """

    id: int
    text: str
    given: str | None
    probability: float


@dataclass(frozen=True)
class EffectsQuestion:
    """The question.

    Attributes:
        token, nth, units: the word whose vector is measured, as written in the text, which occurrence, from 1, and the
            indices of its units; None, None and none of them where it isn't a word's.
        next, rather: the next token that is measured, and its rival; None where there is none.
        by: what a head's output is replaced by.
        over_tokens: the number of tokens of the texts whose mean it is, with by="mean".
        edits: the edits of the run itself, in words.
    """

    token: str | None
    nth: int | None
    units: tuple[int, ...]
    next: NextChoice | None
    rather: NextChoice | None
    by: By
    over_tokens: int | None
    edits: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """A look of a head that was cut: query and key are tokens.

    Attributes:
        effect: how far the measure falls without it; the rest of the row is renormalised.
        weight: the weight.
        passed: weight × length of v·W_o; None if the model's W_o isn't known.
    """

    layer: int
    head: int
    query: int
    key: int
    effect: float
    weight: float
    passed: float | None


@dataclass(frozen=True)
class Agreement:
    """How far another number agrees with the sizes of effects.

    Attributes:
        over: whether heads or edges are compared.
        of: the other number: the weight, weight × length, or the first-order effect's size.
        rank_correlation: Spearman's; None where there are fewer than 3 or all are equal.
        count: the number of heads or edges.
    """

    over: Literal["heads", "edges"]
    of: Literal["weight", "passed", "first order"]
    rank_correlation: float | None
    count: int


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Answer):
    """What changes when a head, or one look of a head, is cut. Made by `effects`; print it to see it.

    An effect is how far the measure falls: a positive one says that the head helped. A decoder's measure is the
    log-probability of the next token in nats, or its difference from a rival's; an encoder's is the cosine of a vector
    with the run's own, so that an effect is 1 - cosine, 0 or more.

    Attributes:
        model: the model's name and sizes.
        text: the text.
        question: the question.
        measure: what is measured.
        base: the measure of the run itself; 1 for a cosine.
        complete: whether all heads and edges were cut; else the run was stopped, and those left are NaN or missing.
        tokens: the model's tokens of the text.
        units: the words and special tokens.
        unknown: the text that the tokenizer's vocabulary lacks; None if there is none.
        heads: float64, (L, H): the effect of each head.
        looks: (L, H): the largest weight in the measured token's row; of several tokens, the mean over their rows.
        passed: (L, H): the largest weight × length of v·W_o in it, likewise; None if the model's W_o isn't known.
        first_order: (L, H): the measure's slope along the head's gate; None unless requested.
        edges: the strongest looks of the heads that matter most, the largest effect first.
        agreement: how far looking agrees with mattering.
        notes: what a reader has to know of how it was asked, in the current language.
        trace: the trace of the run itself. Not part of the JSON.
        base_edits: the edits of the run itself. Not part of the JSON, which has their words.
    """

    model: ModelEntry
    text: str
    question: EffectsQuestion
    measure: MeasureName
    base: float
    complete: bool
    tokens: tuple[TokenEntry, ...]
    units: tuple[UnitEntry, ...]
    unknown: UnknownText | None
    heads: Array
    looks: Array
    passed: Array | None
    first_order: Array | None
    edges: tuple[Edge, ...]
    agreement: tuple[Agreement, ...]
    notes: tuple[str, ...]
    trace: Trace = field(metadata=PYTHON_ONLY)
    base_edits: tuple[Edit, ...] = field(metadata=PYTHON_ONLY)

    schema: ClassVar[str] = "eyeline.effects/1"

    @property
    def ordered(self) -> list[tuple[int, int]]:
        """The heads that were cut, (layer, head), the largest effect, up or down, first."""
        sizes = np.abs(self.heads)
        found = [(int(layer), int(head)) for layer, head in np.argwhere(~np.isnan(sizes))]
        return sorted(found, key=lambda place: (-sizes[place], place))

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Which heads were cut, (L, H)."""
        return ~np.isnan(self.heads)

    def frame(self) -> DataFrame:
        """A pandas DataFrame with a row for each head: layer and head, from 0, effect, weight, passed, first_order.

        Raises:
            ImportError: if pandas isn't installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError(worded("frame needs pandas, which isn't installed; pip install pandas")) from None
        layers, heads = np.indices(self.heads.shape)
        columns = {"layer": layers, "head": heads, "effect": self.heads, "weight": self.looks}
        columns |= {} if self.passed is None else {"passed": self.passed}
        columns |= {} if self.first_order is None else {"first_order": self.first_order}
        return DataFrame({name: np.asarray(values).reshape(-1) for name, values in columns.items()})

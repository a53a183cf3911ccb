"""An explanation: the attention between the tokens of one text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.entries import LayerCosine, Look, ModelEntry, TokenEntry, UnitEntry, UnitMatrix, UnknownText
from eyeline.answers.generation import Generated
from eyeline.answers.head_steps import HeadSteps
from eyeline.answers.unit_weights import Array, HardHead, shares
from eyeline.traces import Trace


@dataclass(frozen=True)
class ExplainQuestion:
    """The question.

    Attributes:
        token: the query word, as written in the text; None for the whole text.
        nth: which occurrence of the word, from 1.
        units: the indices of the word's units.
        layer: counted from 0.
        head: counted from 0; None for the mean of all.
        unit: the unit of a bar or a row, "word" or "piece".
        special: whether special tokens, and a decoder's first token, are drawn one by one.
        shares: whether the drawn numbers are shares of the words alone, and not weights.
        mask: the name of the requested mask; a causal mask changes nothing in a causal model.
        top: the largest number of words drawn; None for a number that fits.
    """

    token: str | None
    nth: int | None
    units: tuple[int, ...]
    layer: int
    head: int | None
    unit: Literal["word", "piece"]
    special: bool
    shares: bool
    mask: str | None
    top: int | None


@dataclass(frozen=True, eq=False)
class ExplainedRun:
    """The numbers of one run of the model: as trained, or changed.

    Attributes:
        name: "as trained", "causal", "without ÷ √d" and so on.
        mask: the name of the added mask; None without one.
        scale: the factor of the scores.
        edits: what was changed in its heads, in words; tokens by position.
        looks_at: the token's weight on each unit; None without a token.
        set_aside: the token's total weight on the units that are set aside; None without a token.
        hardest_heads: the three heads with the largest weight on one word; None without a token.
        moved: the cosine of the token's vector with its own embedding, for the embedding and after each layer; None
            without a token, or if the model doesn't give its vectors.
        steps: attention step by step, if requested.
        matrix: the weights from unit to unit, of the chosen head, or the mean over heads.
        head_weights: the weights from unit to unit of each head, (H, U, U); not part of the JSON.
    """

    name: str
    mask: str | None
    scale: float
    edits: tuple[str, ...]
    looks_at: tuple[Look, ...] | None
    set_aside: float | None
    hardest_heads: tuple[HardHead, ...] | None
    moved: tuple[LayerCosine, ...] | None
    steps: HeadSteps | None
    matrix: UnitMatrix
    head_weights: Array = field(metadata=PYTHON_ONLY)

    @property
    def weights(self) -> Array | None:
        """The token's weight on each unit, (U,); None without a token."""
        return None if self.looks_at is None else np.array([look.weight for look in self.looks_at])


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Answer):
    """The attention between the tokens of one text. Made by `explain`; print it to see it.

    Attributes:
        model: the model's name and sizes.
        causal: whether the model's attention is causal, as trained.
        text: the text, including generated text.
        question: the question.
        tokens: the model's tokens of the text.
        unknown: the text that the tokenizer's vocabulary lacks; None if there is none.
        units: the words (or pieces of words) and special tokens, each a bar or a row; U of them.
        shown: the indices of the units that are drawn; the others are set aside.
        runs: the run as trained and, if a mask or another scale was requested, the run with that change.
        generated: the generated tokens, if requested; `tokens` and `units` then cover the whole text.
        traces: the trace of each run; not part of the JSON.
    """

    model: ModelEntry
    causal: bool
    text: str
    question: ExplainQuestion
    tokens: tuple[TokenEntry, ...]
    unknown: UnknownText | None
    units: tuple[UnitEntry, ...]
    shown: tuple[int, ...]
    runs: tuple[ExplainedRun, ...]
    generated: Generated | None
    traces: tuple[Trace, ...] = field(metadata=PYTHON_ONLY)

    schema: ClassVar[str] = "eyeline.explain/2"

    @property
    def words(self) -> list[str]:
        """The drawn words, in reading order, as typed."""
        return [self.units[place].text for place in self.shown]

    @property
    def weights(self) -> Array:
        """The token's weights on the drawn words, (words,); without a token, (words, words)."""
        weights = self.runs[0].weights
        if weights is None:
            return self.runs[0].matrix.weights[np.ix_(self.shown, self.shown)]
        return weights[list(self.shown)]

    @property
    def shares(self) -> Array:
        """`weights` as shares of their total, which sums to 1: what is drawn with `shares=True`."""
        weights = self.runs[0].weights
        return self.runs[0].matrix.shares if weights is None else shares(weights, self.shown)

    @property
    def moved(self) -> Array | None:
        """The cosine of the token's vector with its own embedding: for the embedding, then after each layer."""
        moved = self.runs[0].moved
        return None if moved is None else np.array([entry.cosine for entry in moved])

    @property
    def steps(self) -> HeadSteps | None:
        """Attention step by step, if requested."""
        return self.runs[0].steps

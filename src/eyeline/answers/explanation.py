"""An explanation: one sentence, and which of its tokens look at which."""

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
    """What was asked.

    Attributes:
        token: the word that looks, as it stands in the text; None for the whole sentence.
        nth: which of its kind, from 1.
        units: the places of the units that it is made of.
        layer: counted from 0.
        head: counted from 0; None for the mean of all.
        unit: what a bar or a row stands for.
        special: whether special tokens, and a decoder's first, are drawn.
        mask: the name of the mask that was asked for; a causal one changes nothing where tokens look only back.
        top: how many words are drawn at most; None for a number that fits.
    """

    token: str | None
    nth: int | None
    units: tuple[int, ...]
    layer: int
    head: int | None
    unit: Literal["word", "piece"]
    special: bool
    mask: str | None
    top: int | None


@dataclass(frozen=True, eq=False)
class ExplainedRun:
    """The numbers of one run of the model: as trained, or changed.

    Attributes:
        name: "as trained", "causal", "without ÷ √d" and so on.
        mask: the name of the mask that was added, if one was.
        scale: the factor of the scores.
        looks_at: the token's weight on each unit; None without a token.
        set_aside: its total weight on the units that are set aside; None without a token.
        hardest_heads: the three heads that look hardest at one word; None without a token.
        moved: the cosine of the token's vector with its own embedding, before and after each layer; None without a
            token, or where the model doesn't give its vectors.
        steps: attention step by step, if it was asked for.
        matrix: the weights from unit to unit, of the head that was asked for, or the mean over heads.
        head_weights: the same of each head, (H, U, U); not part of the JSON.
    """

    name: str
    mask: str | None
    scale: float
    looks_at: tuple[Look, ...] | None
    set_aside: float | None
    hardest_heads: tuple[HardHead, ...] | None
    moved: tuple[LayerCosine, ...] | None
    steps: HeadSteps | None
    matrix: UnitMatrix
    head_weights: Array = field(metadata=PYTHON_ONLY)

    @property
    def weights(self) -> Array | None:
        """What the token gives to each unit, (U,); None without a token."""
        return None if self.looks_at is None else np.array([look.weight for look in self.looks_at])


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Answer):
    """Which tokens of a sentence look at which. Made by `explain`; print it to see it.

    Attributes:
        model: the model's name and sizes.
        causal: whether its tokens look only back, as trained.
        text: the text; with `generate`, and what came after it.
        question: the question.
        tokens: the text as the model's tokens.
        unknown: the parts of the text that the tokenizer has no pieces for; None if there are none.
        units: what one bar or one row stands for: words (or pieces of them), and special tokens; U of them.
        shown: the places of the units that are drawn; the others are set aside.
        runs: as trained and, if a mask or another scale was asked for, with that change.
        generated: how the text went on, if that was asked for; `tokens` and `units` are then of all of it.
        traces: of each run; not part of the JSON.
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
        """`weights` as shares of their total: the bars' lengths; rows sum to 1."""
        weights = self.runs[0].weights
        return self.runs[0].matrix.shares if weights is None else shares(weights, self.shown)

    @property
    def moved(self) -> Array | None:
        """Cosine of the token's vector with its own embedding: of the embedding itself, then after each layer."""
        moved = self.runs[0].moved
        return None if moved is None else np.array([entry.cosine for entry in moved])

    @property
    def steps(self) -> HeadSteps | None:
        """Attention step by step, if it was asked for."""
        return self.runs[0].steps

"""An explanation of an encoder-decoder: the three kinds of attention of one text and what was written of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eyeline.answers.entries import Look, UnitEntry
from eyeline.answers.explanation import Explanation
from eyeline.answers.unit_weights import Array, HardHead, shares


@dataclass(frozen=True)
class WrittenWord:
    """The question's word, if it is one that was written: where the decoder looked in the steps that wrote it.

    Attributes:
        token: the word as written.
        nth: which occurrence, from 1.
        units: the indices of its units in the rows of cross-attention.
        looks_at: the weight on each unit of the text that was read: the mean over the steps.
        set_aside: the total weight on units that are set aside.
        before: the weight on each of the decoder's units, in its self-attention.
        hardest_heads: the three heads of cross-attention with the largest weight on one word.
    """

    token: str
    nth: int
    units: tuple[int, ...]
    looks_at: tuple[Look, ...]
    set_aside: float
    before: tuple[Look, ...]
    hardest_heads: tuple[HardHead, ...]


@dataclass(frozen=True, eq=False)
class CrossWeights:
    """What the decoder looks at, in the text that was read, while it writes. Rows sum to 1.

    Attributes:
        layer: counted from 0.
        head: counted from 0; None for the mean of all.
        tokens: the token of each row. Eyeline's own model: the one that the step writes.
        units: the words (or pieces) of these tokens.
        shown: the indices of the units that are drawn.
        token_weights: the weight from each of N rows to each of M tokens that were read, (N, M).
        weights: the weight from unit to unit of the text that was read, (units, U): the sum over keys, the mean over
            rows.
        word: the question's word, if it is one of these.
    """

    layer: int
    head: int | None
    tokens: tuple[str, ...]
    units: tuple[UnitEntry, ...]
    shown: tuple[int, ...]
    token_weights: Array
    weights: Array
    word: WrittenWord | None

    @property
    def words(self) -> list[str]:
        """The drawn words."""
        return [self.units[place].text for place in self.shown]


@dataclass(frozen=True, eq=False, repr=False)
class EncoderDecoderExplanation(Explanation):
    """What an encoder-decoder reads, writes, and looks at. Made by `explain`; print it to see it.

    As an `Explanation` it is of the encoder's self-attention over the text that is read.

    Attributes:
        written: what the decoder wrote.
        cross: the decoder's look at the text that is read.
        decoder: the decoder's self-attention over what it has written.
    """

    written: str
    cross: CrossWeights
    decoder: Explanation

    @property
    def token_numbers(self) -> Array:
        """The drawn numbers of cross-attention, (N, M): the weight of each row on each token that was read; or, if
        asked for, the share of the words alone, 0 for what is left out."""
        weights = self.cross.token_weights
        if not self.question.shares:
            return weights
        kept = [token for place in self.shown for token in self.units[place].tokens]
        found = np.zeros_like(weights)
        found[:, kept] = shares(weights, kept)
        return found

    @property
    def word_numbers(self) -> Array:
        """The same from drawn word to drawn word, (rows, words)."""
        weights = self.cross.weights[list(self.cross.shown)]
        return shares(weights, self.shown) if self.question.shares else weights[:, list(self.shown)]

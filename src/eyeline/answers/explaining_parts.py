"""Explain an encoder-decoder: its three kinds of attention, of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.encoder_decoder import CrossWeights, EncoderDecoderExplanation, WrittenWord
from eyeline.answers.entries import given_aside, looks, unit_entries
from eyeline.answers.explanation import Explanation
from eyeline.answers.question import QuestionError
from eyeline.answers.question import where as chosen
from eyeline.answers.unit_weights import Array, hardest_heads
from eyeline.answers.word_search import FoundWord, find
from eyeline.masks import Mask
from eyeline.models import Tokens
from eyeline.models.generating import Choice
from eyeline.models.units import Unit, shown_of, units_of
from eyeline.traces import Keep, ReadText, TextModel, Trace
from eyeline.traces.parts import Parts, records_parts
from eyeline.traces.text_model import Continued
from eyeline.words import worded

#: Explains one kind of self-attention: `explain` with all arguments but the text, the token and the model.
ExplainPart = Callable[["RecordedPart", str | None, int | None], Explanation]


@dataclass(frozen=True, eq=False)
class RecordedPart:
    """A `TextModel` that gives a trace that was recorded before."""

    trace: Trace
    tokens: Tokens
    vocabulary_size: int
    family: str
    kind: str | None
    identity: object
    state: int = 0

    @property
    def name(self) -> str:
        return self.trace.model.name

    @property
    def layers(self) -> int:
        return self.trace.model.layers

    @property
    def heads(self) -> int:
        return self.trace.model.heads

    @property
    def positions(self) -> int | None:
        return self.trace.model.positions

    def read(self, text: str) -> ReadText:
        return ReadText(self.tokens)

    def with_tokens(self, tokens: Tokens, like: ReadText) -> ReadText:
        raise NotImplementedError("a recorded part has its own tokens")

    def record(
        self,
        text: ReadText,
        keep: Keep,
        *,
        mask: Mask | None = None,
        scale: float | None = None,
        cancelled: Callable[[], bool] | None = None,
        layer_done: Callable[[int, int], None] | None = None,
    ) -> Trace:
        return self.trace

    def generates(self) -> bool:
        return False

    def go_on(
        self, text: ReadText, count: int, choice: Choice, keep: Keep, said: Callable[[str], None] | None
    ) -> Continued:
        raise NotImplementedError("a recorded part has its whole text")


@dataclass(frozen=True)
class PartsQuestion:
    """The question, as `explain` takes it.

    Attributes:
        token, nth, layer, head, pieces, special, steps: as for `explain`. A word of both texts is taken as read.
        only_written: whether the token is a word that was written, even if it is one that was read, too.
    """

    token: str | None
    nth: int | None
    layer: int | None
    head: int | None
    pieces: bool
    special: bool
    steps: bool
    only_written: bool


def recorded_parts(model: TextModel, text: str, keep: Keep, layer_done: Callable[[int, int], None] | None) -> Parts:
    """Run an encoder-decoder over a text.

    Raises:
        QuestionError: if the model isn't an encoder-decoder.
    """
    if not records_parts(model):
        raise QuestionError(worded("kind must be left out with a model that isn't an encoder-decoder, got 'cross'"))
    return model.record_parts(text, keep, layer_done=layer_done)


def explain_parts(
    parts: Parts, model: TextModel, asked: PartsQuestion, explain_part: ExplainPart
) -> EncoderDecoderExplanation:
    """Explain the three kinds of attention of one run.

    Args:
        parts: the run.
        model: the model that ran.
        asked: the question.
        explain_part: explains one kind of self-attention.
    """
    read_units, row_units = units_of(parts.read, asked.pieces), units_of(parts.rows, asked.pieces)
    word, of_read = (None, False) if asked.token is None else _found(asked, parts, read_units, row_units)
    if asked.steps and not of_read:
        raise QuestionError(
            worded("token must be a word of the text that is read with steps, got {token!r}", token=asked.token),
            worded('kind="decoder" shows the steps of a word that is written'),
            worded("--kind decoder shows the steps of a word that is written"),
        )

    def part(trace: Trace, tokens: Tokens, kind: str) -> RecordedPart:
        return RecordedPart(trace, tokens, model.vocabulary_size, model.family, kind, model.identity, model.state)

    about = (asked.token, asked.nth) if of_read else (None, None)
    encoder = explain_part(part(parts.encoder, parts.read, "encoder"), *about)
    decoder = explain_part(part(parts.decoder, parts.inputs, "decoder"), None, None)
    cross = _cross(parts, asked, read_units, row_units, encoder.shown, None if of_read else word)
    whole = {one.name: getattr(encoder, one.name) for one in fields(Explanation)}
    whole["traces"] = tuple(parts.traces)
    return EncoderDecoderExplanation(**whole, written=parts.rows.text, cross=cross, decoder=decoder)


def _found(
    asked: PartsQuestion, parts: Parts, read_units: Sequence[Unit], row_units: Sequence[Unit]
) -> tuple[FoundWord, bool]:
    """The question's word, and whether it is of the text that was read."""
    assert asked.token is not None
    rest = asked.token, asked.nth
    if asked.only_written:
        return find(*rest, row_units, parts.rows.text, asked.special), False
    try:
        return find(*rest, read_units, parts.read.text, asked.special), True
    except QuestionError as error:
        of_read = error
    try:
        return find(*rest, row_units, parts.rows.text, asked.special), False
    except QuestionError as of_rows:
        # The text in which the word is there several times, or else the one that was read.
        raise (of_read if "isn't there" in str(of_rows) else of_rows) from None


def _cross(
    parts: Parts,
    asked: PartsQuestion,
    read_units: Sequence[Unit],
    row_units: Sequence[Unit],
    read_shown: Sequence[int],
    found: FoundWord | None,
) -> CrossWeights:
    """The decoder's look at the text that was read; `found` is the question's word, if it was written."""
    where = chosen(parts.cross.model, asked.layer, asked.head)
    shown = shown_of(row_units, causal=False, special=asked.special, asked=found.units if found else ())
    by_head = parts.cross.layers[where.layer].weights
    to_units = _summed(by_head, read_units)  # (H, N, U)
    weights = to_units[where.heads].mean(axis=0)
    rows = np.stack([weights[list(unit.tokens)].mean(axis=0) for unit in row_units])
    word = None
    if found is not None:
        steps = found.tokens(row_units)
        row = to_units[:, steps].mean(axis=1)
        inputs = units_of(parts.inputs, asked.pieces)
        own = _summed(parts.decoder.layers[where.layer].weights, inputs)[where.heads][:, steps].mean(axis=(0, 1))
        mean = row[where.heads].mean(axis=0)
        word = WrittenWord(
            found.text,
            found.nth,
            found.units,
            looks(mean, read_units, read_shown),
            given_aside(mean, read_shown),
            looks(own, inputs, shown_of(inputs, causal=True, special=asked.special)),
            hardest_heads(row, where.layer, read_units, shown_of(read_units, causal=False, special=False)),
        )
    return CrossWeights(
        where.layer,
        where.head,
        tuple(parts.rows.pieces),
        unit_entries(row_units, shown),
        shown,
        by_head[where.heads].mean(axis=0),
        rows,
        word,
    )


def _summed(weights: NDArray[Any], units: Sequence[Unit]) -> Array:
    """The weights on units: (..., M) → (..., U)."""
    array = np.asarray(weights, np.float64)
    return np.stack([array[..., list(unit.tokens)].sum(axis=-1) for unit in units], axis=-1)

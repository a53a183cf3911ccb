"""Explain an encoder-decoder: its three kinds of attention, of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

from eyeline.answers.encoder_decoder import CrossWeights, EncoderDecoderExplanation, WrittenWord
from eyeline.answers.entries import given_aside, looks, unit_entries
from eyeline.answers.explained_traces import Asked, explained
from eyeline.answers.explanation import Explanation
from eyeline.answers.question import QuestionError, check_words, where
from eyeline.answers.unit_weights import by_unit, from_tokens, hardest_heads
from eyeline.edits import Edit
from eyeline.models.units import Unit, shown_of, units_of
from eyeline.traces import Keep, TextModel
from eyeline.traces.parts import Parts, records_parts
from eyeline.traces.word_search import FoundWord, MissingWordError, find
from eyeline.words import worded


def recorded_parts(
    model: TextModel,
    text: str,
    keep: Keep,
    layer_done: Callable[[int, int], None] | None,
    edits: Sequence[Edit] = (),
) -> Parts:
    """Run an encoder-decoder over a text.

    Raises:
        QuestionError: if the model isn't an encoder-decoder.
    """
    if not records_parts(model):
        raise QuestionError(worded("kind must be left out with a model that isn't an encoder-decoder, got 'cross'"))
    return model.record_parts(text, keep, edits=edits, layer_done=layer_done)


def explain_parts(parts: Parts, asked: Asked, *, only_written: bool) -> EncoderDecoderExplanation:
    """Explain the three kinds of attention of one run.

    Args:
        parts: the run.
        asked: the question. A word of both texts is taken as read.
        only_written: whether the token is a word that was written, even if it is one that was read, too.
    """
    read_units, row_units = units_of(parts.read, asked.pieces), units_of(parts.rows, asked.pieces)
    word, of_read = None, False
    if asked.token is not None:
        word, of_read = _found(asked.token, asked, parts, read_units, row_units, only_written)
    if asked.steps and not of_read:
        raise QuestionError(
            worded("token must be a word of the text that is read with steps, got {token!r}", token=asked.token),
            worded('kind="decoder" shows the steps of a word that is written'),
            worded("--kind decoder shows the steps of a word that is written"),
        )
    for tokens in (parts.read, parts.inputs):
        check_words(tokens, parts.read.text)
    encoder = explained([parts.encoder], parts.read, read_units, word if of_read else None, asked)
    own = units_of(parts.inputs, asked.pieces)
    decoder = explained([parts.decoder], parts.inputs, own, None, replace(asked, steps=False))
    cross = _cross(parts, asked, read_units, row_units, own, encoder.shown, None if of_read else word)
    whole = {one.name: getattr(encoder, one.name) for one in fields(Explanation)}
    whole["traces"] = tuple(parts.traces)
    return EncoderDecoderExplanation(**whole, written=parts.rows.text, cross=cross, decoder=decoder)


def _found(
    token: str,
    asked: Asked,
    parts: Parts,
    read_units: Sequence[Unit],
    row_units: Sequence[Unit],
    only_written: bool,
) -> tuple[FoundWord, bool]:
    """The question's word, and whether it is of the text that was read."""
    if only_written:
        return find(token, asked.nth, row_units, parts.rows.text, asked.special), False
    try:
        return find(token, asked.nth, read_units, parts.read.text, asked.special), True
    except QuestionError as error:
        of_read = error
    try:
        return find(token, asked.nth, row_units, parts.rows.text, asked.special), False
    except MissingWordError:
        raise of_read from None  # of neither text


def _cross(
    parts: Parts,
    asked: Asked,
    read_units: Sequence[Unit],
    row_units: Sequence[Unit],
    own_units: Sequence[Unit],
    read_shown: Sequence[int],
    found: FoundWord | None,
) -> CrossWeights:
    """The decoder's look at the text that was read; `found` is the question's word, if it was written."""
    place = where(parts.cross.model, asked.layer, asked.head)
    shown = shown_of(row_units, causal=False, special=asked.special, asked=found.units if found else ())
    by_head = parts.cross.layers[place.layer].weights
    word = None
    if found is not None:
        steps = found.tokens(row_units)
        rows = from_tokens(by_head, steps, read_units)
        before = from_tokens(parts.decoder.layers[place.layer].weights, steps, own_units)
        mean = rows[place.heads].mean(axis=0)
        word = WrittenWord(
            found.text,
            found.nth,
            found.units,
            looks(mean, read_units, read_shown),
            given_aside(mean, read_shown),
            looks(
                before[place.heads].mean(axis=0),
                own_units,
                shown_of(own_units, causal=True, special=asked.special),
            ),
            hardest_heads(rows, place.layer, read_units, shown_of(read_units, causal=False, special=False)),
        )
    return CrossWeights(
        place.layer,
        place.head,
        tuple(parts.rows.pieces),
        unit_entries(row_units, shown),
        shown,
        by_head[place.heads].mean(axis=0),
        by_unit(by_head, row_units, read_units)[place.heads].mean(axis=0),
        word,
    )

"""What is asked: the text, the word or the next token that is measured, checked before anything is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eyeline.answers.question import QuestionError, read_text
from eyeline.edits import Kind, ModelEdits, Sites, several
from eyeline.models.pooling import pooling_of
from eyeline.models.sites import sites
from eyeline.models.units import Unit, units_of
from eyeline.traces import ReadText, TextModel
from eyeline.traces.finding_words import word_positions
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder
from eyeline.traces.own_model import OwnModel
from eyeline.traces.word_search import FoundWord, find
from eyeline.words import worded


@dataclass(frozen=True)
class Subject:
    """What is measured of a text.

    Attributes:
        read: the text as the model takes it.
        units: its words and special tokens.
        causal: whether the model is a decoder, so that the next token is measured.
        found: the word whose vector is measured; None for the text's, or a decoder.
        rows: the tokens whose vectors after the last layer are needed.
    """

    read: ReadText
    units: Sequence[Unit]
    causal: bool
    found: FoundWord | None
    rows: tuple[int, ...]


def subject(
    model: TextModel,
    text: str | ReadText,
    *,
    token: str | None,
    nth: int | None = None,
    next: str | None,
    rather: str | None = None,
    embed: bool = False,
    special: bool = False,
    first_order: bool = False,
) -> Subject:
    """Check a question against the model and the text; the arguments of `effects` of these names.

    Raises:
        QuestionError: if they don't fit the model, or each other.
    """
    if isinstance(model, OwnEncoderDecoder) or model.kind is not None:
        raise QuestionError(
            worded(
                "model must be an encoder or a decoder to measure what heads do, got the encoder-decoder {model}",
                model=model.name,
            ),
            worded("take one such as minilm or smollm2"),
        )
    causal = model.generates()
    if causal:
        _refuse({"token": token, "nth": nth, "embed": embed or None}, model, decoder=True)
    else:
        _refuse({"next": next, "rather": rather, "first_order": first_order or None}, model, decoder=False)
    if rather is not None and next is None:
        raise QuestionError(worded("next must be given with rather"), worded("add next=..."), worded("add --next WORD"))
    if token is not None and embed:
        raise QuestionError(
            worded("token and embed can't both be given: the vector is the word's, or the text's"),
            worded("leave out one of them"),
        )
    if nth is not None and token is None:
        raise QuestionError(worded("token must be given with nth"), worded("add token=..."), worded("add --token WORD"))
    read = text if isinstance(text, ReadText) else read_text(model, text)
    units = units_of(read.tokens, pieces=False)
    if causal:
        return Subject(read, units, True, None, (len(read.tokens) - 1,))
    if token is not None:
        word = find(token, nth, units, read.tokens.text, special)
        return Subject(read, units, False, word, tuple(word.tokens(units)))
    return Subject(read, units, False, None, _embedded(model, len(read.tokens)))


def _refuse(given: dict[str, object], model: TextModel, *, decoder: bool) -> None:
    for name, value in given.items():
        if value is None:
            continue
        option = name.replace("_", "-")
        if decoder:
            raise QuestionError(
                worded(
                    "{name} must be left out with the decoder {model}, of which the next token is measured",
                    name=name,
                    model=model.name,
                ),
                worded('give next=" word"'),
                worded('leave out --{option}, and give --next " word"', option=option),
            )
        if name == "first_order":
            raise QuestionError(
                worded(
                    "first_order must be left out with the encoder {model}: 1 - cosine has its least value at the run "
                    "itself, so that every slope is 0",
                    model=model.name,
                ),
                worded("take a decoder such as smollm2"),
            )
        raise QuestionError(
            worded(
                "{name} must be left out with the encoder {model}, which doesn't say what comes next",
                name=name,
                model=model.name,
            ),
            worded('give token="word", or take a decoder such as smollm2'),
            worded("give --token WORD, or take a decoder: --model smollm2"),
        )


def _embedded(model: TextModel, count: int) -> tuple[int, ...]:
    """The tokens whose mean is the text's vector."""
    if not isinstance(model, OwnModel):
        return tuple(range(count))
    pooling = pooling_of(model.model)
    if count > pooling.longest:
        raise QuestionError(
            worded(
                "text must have at most the {longest} tokens that {model} embeds, got {count} (special ones too)",
                longest=pooling.longest,
                model=model.name,
                count=count,
            ),
            worded('give it a shorter text, or measure a word: token="word"'),
            worded("give it a shorter text, or measure a word: --token WORD"),
        )
    return (0,) if pooling.mode == "first" else tuple(range(count))


def edits_found(edits: Any, model: TextModel, subject: Subject) -> ModelEdits:
    """The run's own edits, checked against the model, with positions in place of words.

    Raises:
        TypeError: if one of them isn't an edit.
        EditError: if the model hasn't such a layer or head, or a word isn't in the text once.
    """
    kind: Kind = "decoder self" if subject.causal else "encoder self"
    # Key heads of a model of transformers are checked when it runs.
    here = sites(model.model.config) if isinstance(model, OwnModel) else Sites({kind: model.layers}, model.heads, 1)
    tokens = subject.read.tokens
    return ModelEdits(several(edits), here).with_words_found(lambda word, side: word_positions(word, tokens, side))

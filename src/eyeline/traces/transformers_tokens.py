"""The tokens of texts for models of transformers, and those of ids whose text isn't known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eyeline.models import ModelError, Tokens
from eyeline.models.continuing import Continuation
from eyeline.models.tokenizing import check_unicode, panics_caught, tokens_of
from eyeline.traces.errors import TraceError
from eyeline.traces.tokenized_text import TokenizedText, of_words
from eyeline.words import worded


def read(text: str, tokenizer: Any) -> tuple[Tokens, Mapping[str, Any]]:
    """Tokenize a question's text; returns the tokens and a transformers model's inputs, a batch of one text."""
    if tokenizer is None:
        raise TraceError(
            worded(
                "tokenizer must be given with a model of transformers and a text; "
                "AutoTokenizer.from_pretrained(...) loads it"
            )
        )
    if not text.strip():
        raise TraceError(worded("text must have at least one word, got {text!r}", text=text[:20]))
    check_unicode(text)
    try:
        return read_any(text, tokenizer)
    except ModelError as error:
        raise TraceError(worded("tokenizer can't cut this text into tokens ({reason})", reason=error)) from None


def read_any(text: str, tokenizer: Any) -> tuple[Tokens, Mapping[str, Any]]:
    """As `read`, of any text of valid Unicode, also without a word.

    Raises:
        ModelError: if the tokenizer panics.
    """
    from eyeline.huggingface.model_inputs import tokenized

    with panics_caught():
        found = tokenized(text, tokenizer)
    if found.offsets is None:
        return reread(found.ids, tokenizer), found.inputs
    unknown = getattr(tokenizer, "unk_token_id", None)
    return tokens_of(text, found.ids, found.pieces, found.offsets, found.special, unknown), found.inputs


def reread(ids: Sequence[int], tokenizer: Any) -> Tokens:
    """Make tokens from ids whose text isn't known: the tokenizer decodes it."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        reading = Continuation(backend, Tokens("", [], [], [], []))
        for id in ids:
            reading.add(id)
        return reading.tokens
    from eyeline.huggingface.model_inputs import pieces_of

    pieces = pieces_of(ids, tokenizer)
    line = of_words(pieces)
    special = set(getattr(tokenizer, "all_special_ids", ()))
    return Tokens(line.text, list(ids), pieces, [span or (0, 0) for span in line.spans], [id in special for id in ids])


def line_of_ids(ids: Sequence[int], tokenizer: Any) -> TokenizedText | Tokens:
    """Make tokens from ids whose text isn't known: decoded by the tokenizer; without one, their numbers."""
    if tokenizer is None:
        return replace(of_words([str(id) for id in ids]), ids=tuple(map(int, ids)))
    return reread(ids, tokenizer)


def decoder_ids(model: Any, tokenizer: Any, inputs: Mapping[str, Any], target: str | None) -> list[int]:
    """The input tokens of an encoder-decoder's decoder: the target, those among the inputs, or the model's own
    answer."""
    from eyeline.huggingface.model_inputs import answer_ids, target_ids

    if target is not None:
        if tokenizer is None:
            raise TraceError(worded("tokenizer must be given with a target that is text"))
        return target_ids(model, tokenizer(text_target=target)["input_ids"])
    if "decoder_input_ids" in inputs:
        return [int(id) for id in np.asarray(inputs["decoder_input_ids"].cpu()).ravel()]
    return answer_ids(model, inputs)

"""Traces of Hugging Face models: one of an encoder or a decoder, three of an encoder-decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eyeline.models import Tokens
from eyeline.models.continuing import Continuation
from eyeline.traces.allowed import allowed
from eyeline.traces.errors import Cancelled, TraceError
from eyeline.traces.making import checked, traced
from eyeline.traces.tokenized_text import TokenizedText, of_tokens, of_words
from eyeline.traces.trace import Kind, Trace

if TYPE_CHECKING:
    from eyeline.huggingface.recording import RecordedCall

_KINDS: dict[str, Kind] = {"encoder self": "encoder", "decoder self": "decoder", "cross": "cross"}


def record_hugging(
    text: str | Mapping[str, Any],
    model: Any,
    tokenizer: Any,
    target: str | None,
    values: bool,
    cancelled: Callable[[], bool] | None,
    progress: Callable[[str], None] | None,
) -> list[Trace]:
    """The traces of one pass of a model of transformers; see `eyeline.record`."""
    from eyeline.huggingface.errors import check_installed

    check_installed()
    from eyeline.huggingface.model_inputs import answer_ids, as_tensors, target_ids, the_model
    from eyeline.huggingface.recording import record_pass

    model = the_model(model)
    both = bool(getattr(model.config, "is_encoder_decoder", False))
    given, line = _given(text, tokenizer)
    inputs = as_tensors(model, given)
    answer = None
    if both:
        if target is not None:
            if tokenizer is None:
                raise TraceError("tokenizer must be given with a target that is text")
            ids = target_ids(model, tokenizer(text_target=target)["input_ids"])
        elif "decoder_input_ids" in inputs:
            ids = [int(id) for id in np.asarray(inputs["decoder_input_ids"].cpu()).ravel()]
        else:
            ids = answer_ids(model, inputs)
        answer = line_of_ids(ids, tokenizer)
        inputs |= as_tensors(model, {"decoder_input_ids": [ids]})
    elif target is not None:
        raise TraceError(f"target must be left out with a model that isn't an encoder-decoder, got {target!r:.40}")

    def before(module: str) -> None:
        if cancelled is not None and cancelled():
            raise Cancelled
        if progress is not None:
            progress(module)

    by_kind: dict[str, list[RecordedCall]] = {}
    for call in record_pass(model, inputs, before).calls:
        by_kind.setdefault(call.kind, []).append(call)
    name = getattr(model.config, "name_or_path", "") or type(model).__name__
    traces = []
    for kind in ("encoder self", "decoder self", "cross"):
        if found := by_kind.get(kind):
            queries = answer if both and kind != "encoder self" else line
            traces.append(_trace(found, kind, queries, line, both, name, values))
    return traces


def _trace(
    calls: Sequence[RecordedCall],
    kind: str,
    queries: TokenizedText | None,
    keys: TokenizedText | None,
    several: bool,
    model: str,
    values: bool,
) -> Trace:
    """The trace of the calls of one kind."""
    (H, N, _), (_, M, _) = calls[0].q.shape, calls[0].k.shape
    shapes = [tuple(x.shape for x in (call.q, call.k, call.v)) for call in calls]
    for call, shape in zip(calls, shapes, strict=True):
        if shape != shapes[0]:
            raise TraceError(
                f"layers must be alike to be one trace, got q, k and v of shapes {shapes[0]} in {calls[0].module} and "
                f"{shape} in {call.module}; read its weights with eyeline.watch"
            )
    queries = _fitting(queries, N)
    line = _fitting(keys, M) if kind == "cross" else None
    for call in calls:
        for name in ("q", "k", "v"):
            checked(name, getattr(call, name)[None], f" of {call.module}")
    return traced(
        [(call.q, call.k, call.v if values else None) for call in calls],
        [allowed(call.mask, H, N, M) for call in calls],
        [call.scale for call in calls],
        queries,
        line,
        name=_KINDS[kind] if several else "as trained",
        model=model,
        kind=_KINDS[kind],
    )


def _fitting(line: TokenizedText | None, count: int) -> TokenizedText:
    """The line, if it is one of so many tokens: what a model makes of pictures or sounds is numbered."""
    return line if line is not None and len(line) == count else of_words([str(place) for place in range(count)])


def _given(text: str | Mapping[str, Any], tokenizer: Any) -> tuple[Mapping[str, Any], TokenizedText | None]:
    """What the model is called with, and the line of its tokens, if it is of tokens."""
    if not isinstance(text, str):
        ids = text.get("input_ids")
        return text, None if ids is None else line_of_ids([int(id) for id in np.asarray(ids).ravel()], tokenizer)
    if tokenizer is None:
        raise TraceError(
            "tokenizer must be given with a model of transformers and a text; AutoTokenizer.from_pretrained(...) loads "
            "it"
        )
    if not text.strip():
        raise TraceError(f"text must have at least one word, got {text[:20]!r}")
    from eyeline.huggingface.model_inputs import tokenized

    made = tokenized(text, tokenizer)
    if made.offsets is None:
        return made.inputs, _numbered(made.ids, made.pieces)
    tokens = Tokens(text, made.ids, made.pieces, made.offsets, made.special)
    return made.inputs, of_tokens(tokens, causal=False)


def line_of_ids(ids: Sequence[int], tokenizer: Any) -> TokenizedText:
    """The line of tokens whose text isn't known: as a tokenizer reads them; without one, their numbers."""
    if tokenizer is None:
        return _numbered(ids, [str(id) for id in ids])
    from eyeline.huggingface.model_inputs import pieces_of

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return _numbered(ids, pieces_of(ids, tokenizer))
    reading = Continuation(backend, Tokens("", [], [], [], []))
    for id in ids:
        reading.add(id)
    return of_tokens(reading.tokens, causal=False)


def _numbered(ids: Sequence[int], pieces: Sequence[str]) -> TokenizedText:
    return replace(of_words(pieces), ids=tuple(map(int, ids)))

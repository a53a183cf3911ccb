"""Traces of a transformers model's attention calls: one for an encoder or a decoder, three for an encoder-decoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Edit, named
from eyeline.models import Tokens
from eyeline.traces.errors import Cancelled, TraceError
from eyeline.traces.keep import Keep, kept_heads
from eyeline.traces.layer_trace import checked
from eyeline.traces.own_model import name_of
from eyeline.traces.tokenized_text import TokenizedText, of_tokens, of_words
from eyeline.traces.trace import Kind, Trace
from eyeline.traces.transformers_edits import UNEDITED, RunEdits, edited, edits_found, layer_of_call
from eyeline.traces.transformers_inputs import inputs_of
from eyeline.traces.transformers_tokens import decoder_ids, line_of_ids, read
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.huggingface.recording import RecordedCall

#: The name of each kind of attention in `huggingface`, and in a trace.
KINDS: dict[str, Kind] = {"encoder self": "encoder", "decoder self": "decoder", "cross": "cross"}


def record_inputs(
    text: str | Mapping[str, Any],
    model: Any,
    tokenizer: Any,
    target: str | None,
    keep: Keep,
    cancelled: Callable[[], bool] | None,
    progress: Callable[[str], None] | None,
    edits: Sequence[Edit] = (),
) -> list[Trace]:
    """The traces of one pass of a transformers model; see `eyeline.record`."""
    from eyeline.huggingface.errors import check_installed

    check_installed()
    from eyeline.huggingface.model_inputs import as_tensors, the_model

    model = the_model(model)
    both = is_encoder_decoder(model)
    line: TokenizedText | Tokens | None
    if isinstance(text, str):
        tokens, given = read(text, tokenizer)
        line = tokens
    else:
        given, ids = text, text.get("input_ids")
        line = None if ids is None else line_of_ids([int(id) for id in np.asarray(ids).ravel()], tokenizer)
    inputs, answer = as_tensors(model, given), None
    if not both and target is not None:
        raise TraceError(
            worded(
                "target must be left out with a model that isn't an encoder-decoder, got {target!r:.40}", target=target
            )
        )

    def written() -> TokenizedText | Tokens:
        return line_of_ids(decoder_ids(model, tokenizer, inputs, target), tokenizer)

    found = edits_found(edits, model, line, written if both else None)
    with edited(model, found) as changes:
        if both:
            ids = decoder_ids(model, tokenizer, inputs, target)
            answer = line_of_ids(ids, tokenizer)
            inputs |= as_tensors(model, {"decoder_input_ids": [ids]})
        calls = calls_of(model, inputs, keep, before_each(cancelled, progress))
    _check_heads(keep, calls)
    return traces_of(calls, line, answer, both, name_of_model(model), keep, edits=changes)


def calls_of(
    model: Any, inputs: Mapping[str, Any], keep: Keep, before: Callable[[str], None]
) -> tuple[RecordedCall, ...]:
    """The attention calls of one pass, with all that `keep` requests; see `record_pass`."""
    from eyeline.huggingface.recording import record_pass

    return record_pass(
        model,
        inputs,
        before,
        changed_scores=keep.changed_scores,
        hidden_states=keep.vectors is not None or keep.input,
        projections=keep.input,
    ).calls


def traces_of(
    calls: Sequence[RecordedCall],
    read: TokenizedText | Tokens | None,
    answer: TokenizedText | Tokens | None,
    both: bool,
    model: str,
    keep: Keep,
    positions: int | None = None,
    edits: RunEdits = UNEDITED,
) -> list[Trace]:
    """The traces of a pass, one for each kind of attention that the model has.

    Args:
        calls: those of the pass.
        read, answer: the tokens of the text, and of an encoder-decoder's answer, where they are known.
        both: whether the model is an encoder-decoder.
        model, keep, positions, edits: as for `trace_of_calls`.
    """
    traces = []
    for theirs, kind in KINDS.items():
        if some := [call for call in calls if call.kind == theirs]:
            queries = answer if both and kind != "encoder" else read
            traces.append(trace_of_calls(some, queries, read, both, model, keep, positions=positions, edits=edits))
    return traces


def _check_heads(keep: Keep, calls: Sequence[RecordedCall]) -> None:
    """Check that each head to keep is one of a part of the model."""
    if keep.heads and calls:
        layers = max(Counter(call.kind for call in calls).values())
        kept_heads([f"L{layer}H{head}" for layer, head in keep.heads], layers, max(len(call.q) for call in calls))


def is_encoder_decoder(model: Any) -> bool:
    """Whether a transformers model has an encoder and a decoder."""
    return bool(getattr(model.config, "is_encoder_decoder", False))


def name_of_model(model: Any) -> str:
    """The name of a transformers model."""
    return str(getattr(model.config, "name_or_path", "") or type(model).__name__)


def before_each(cancelled: Callable[[], bool] | None, progress: Callable[[str], None] | None) -> Callable[[str], None]:
    """Make the function to call before each attention module runs."""

    def before(module: str) -> None:
        if cancelled is not None and cancelled():
            raise Cancelled
        if progress is not None:
            progress(module)

    return before


def trace_of_calls(
    calls: Sequence[RecordedCall],
    queries: TokenizedText | Tokens | None,
    keys: TokenizedText | Tokens | None,
    several: bool,
    model: str,
    keep: Keep,
    *,
    positions: int | None = None,
    prompt: int | None = None,
    edits: RunEdits = UNEDITED,
) -> Trace:
    """Make the trace of the attention calls of one kind.

    Args:
        calls: one or more.
        queries, keys: the query and key tokens, where they are known.
        several: whether the model also has other kinds of attention.
        model: the model's name.
        keep: what the trace keeps.
        positions: the maximum number of tokens; None without a limit, or if it isn't known.
        prompt: the number of prompt tokens, if the others were generated.
        edits: what was changed in the run.
    """
    kind = KINDS[calls[0].kind]
    N, M = calls[0].q.shape[1], calls[0].k.shape[1]
    shapes = [tuple(x.shape for x in (call.q, call.k, call.v)) for call in calls]
    for call, shape in zip(calls, shapes, strict=True):
        if shape != shapes[0]:
            raise TraceError(
                worded(
                    "layers must be alike to be one trace, got q, k and v of shapes {shapes} in {module} and "
                    "{shape} in {got}; read its weights with eyeline.watch",
                    shapes=shapes[0],
                    module=calls[0].module,
                    shape=shape,
                    got=call.module,
                )
            )
    for call in calls:
        for name in ("q", "k", "v"):
            checked(name, getattr(call, name)[None], f" of {call.module}")
    trace = Trace.of_layers(
        [layer_of_call(call, keep, N, M) for call in calls],
        _line(queries, N, kind, prompt),
        _line(keys, M, "encoder", None) if kind == "cross" else None,
        name=", ".join([kind, *map(named, edits.written)]) if several else name_of(None, None, edits.written),
        model=model,
        kind=kind,
        keep=keep,
        positions=positions,
        vectors=_hidden_vectors(calls, keep, N),
    )
    inputs = inputs_of(calls, keep.heads) if keep.input else None
    return replace(trace, inputs=inputs, edits=edits.found)


def _line(tokens: TokenizedText | Tokens | None, count: int, kind: Kind, prompt: int | None) -> TokenizedText:
    """The tokens in a trace's form, if there are `count`; else numbers, as for a picture's patches or a sound's
    frames."""
    if tokens is None or len(tokens) != count:
        return of_words([str(place) for place in range(count)])
    if isinstance(tokens, Tokens):
        return of_tokens(tokens, causal=kind == "decoder", prompt=prompt)
    return tokens


def _hidden_vectors(calls: Sequence[RecordedCall], keep: Keep, tokens: int) -> NDArray[np.float32] | None:
    """The vectors that `keep` requests; None if the model's layers don't pass hidden states in the usual way."""
    from eyeline.huggingface.recording import Recording

    places = keep.positions(tokens)
    if places is None:
        return None
    try:
        states = Recording(tuple(calls)).hidden_states(calls[0].kind)
    except ValueError:
        return None
    if any(len(state) != tokens for state in states):
        return None
    return np.stack([state[places] for state in states])

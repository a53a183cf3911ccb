"""Record all three kinds of attention of an encoder-decoder of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eyeline.models import Tokens
from eyeline.traces.errors import TraceError
from eyeline.traces.keep import Keep
from eyeline.traces.parts import Parts
from eyeline.traces.trace import Trace
from eyeline.traces.transformers_traces import before_each, decoder_ids, hidden_vectors, read, reread, trace_of_calls
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.huggingface.watched_call import Kind


def record_parts(
    model: Any,
    tokenizer: Any,
    text: str,
    target: str | None,
    keep: Keep,
    cancelled: Callable[[], bool] | None,
    *,
    name: str,
    positions: int | None,
) -> Parts:
    """Run an encoder-decoder once; see `TransformersModel.record_parts`."""
    from eyeline.huggingface.errors import HuggingFaceError
    from eyeline.huggingface.model_inputs import as_tensors
    from eyeline.huggingface.recording import record_pass

    tokens, given = read(text, tokenizer)
    inputs = as_tensors(model, given)
    ids = decoder_ids(model, tokenizer, inputs, target)
    answer = reread(ids, tokenizer)
    inputs |= as_tensors(model, {"decoder_input_ids": [ids]})
    try:
        recording = record_pass(
            model,
            inputs,
            before_each(cancelled, None),
            changed_scores=keep.changed_scores,
            hidden_states=keep.vectors is not None or keep.input,
            projections=keep.input,
        )
    except HuggingFaceError as error:
        raise TraceError(str(error)) from None

    def trace(kind: Kind, queries: Tokens) -> Trace:
        calls = [call for call in recording.calls if call.kind == kind]
        if not calls:
            raise TraceError(worded("model must have attention of all three kinds, got none of {kind}", kind=kind))
        vectors = hidden_vectors(recording, kind, keep, len(queries))
        return trace_of_calls(calls, queries, tokens, True, name, keep, positions=positions, vectors=vectors)

    traces = trace("encoder self", tokens), trace("decoder self", answer), trace("cross", answer)
    return Parts(*traces, tokens, answer, answer)

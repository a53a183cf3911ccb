"""Record all three kinds of attention of an encoder-decoder of transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eyeline.edits import Edit
from eyeline.models import Tokens
from eyeline.traces.errors import TraceError
from eyeline.traces.keep import Keep
from eyeline.traces.parts import Parts
from eyeline.traces.transformers_edits import edited, edits_found
from eyeline.traces.transformers_tokens import decoder_ids, read, reread
from eyeline.traces.transformers_traces import KINDS, before_each, calls_of, traces_of
from eyeline.words import worded


def record_parts(
    model: Any,
    tokenizer: Any,
    text: str,
    target: str | None,
    keep: Keep,
    cancelled: Callable[[], bool] | None,
    edits: Sequence[Edit] = (),
    *,
    name: str,
    positions: int | None,
) -> Parts:
    """Run an encoder-decoder once; see `TransformersModel.record_parts`."""
    from eyeline.huggingface.errors import HuggingFaceError
    from eyeline.huggingface.model_inputs import as_tensors

    tokens, given = read(text, tokenizer)
    _check_room("text", tokens, positions, name)
    inputs = as_tensors(model, given)
    changes = edits_found(
        edits, model, tokens, lambda: reread(decoder_ids(model, tokenizer, inputs, target), tokenizer)
    )
    try:
        with edited(model, changes) as changes:
            ids = decoder_ids(model, tokenizer, inputs, target)
            answer = reread(ids, tokenizer)
            _check_room("target", answer, positions, name)
            inputs |= as_tensors(model, {"decoder_input_ids": [ids]})
            calls = calls_of(model, inputs, keep, before_each(cancelled, None))
    except HuggingFaceError as error:
        raise TraceError(str(error)) from None
    found = {one.kind: one for one in traces_of(calls, tokens, answer, True, name, keep, positions, changes)}
    for theirs, kind in KINDS.items():
        if kind not in found:
            raise TraceError(worded("model must have attention of all three kinds, got none of {kind}", kind=theirs))
    return Parts(found["encoder"], found["decoder"], found["cross"], tokens, answer, answer)


def _check_room(what: str, tokens: Tokens, positions: int | None, model: str) -> None:
    """Check that the model has a position for each token, before it runs into the end of its table."""
    if positions is not None and len(tokens) > positions:
        raise TraceError(
            worded(
                "{what} must fit the {positions} positions of {model}, got {count} tokens (special ones "
                "too); give a shorter one, or take another model",
                what=what,
                positions=positions,
                model=model,
                count=len(tokens),
            )
        )

"""Run a model and record its trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from eyeline.edits import Edit, several
from eyeline.masks import Causal, Mask
from eyeline.models import Model, Tokens
from eyeline.traces.errors import TraceError
from eyeline.traces.keep import Keep, keep_of
from eyeline.traces.model_choice import text_model
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder, only_decoder_is_causal
from eyeline.traces.text_model import ReadText, TextModel, TorchModel
from eyeline.traces.trace import Trace
from eyeline.words import worded

#: What `edits=` takes.
Edits = Sequence[Edit] | Edit


@overload
def record(  # type: ignore[overload-overlap]  # the one name whose model is an encoder-decoder
    text: str,
    *,
    model: Literal["dates"],
    target: str | None = ...,
    values: bool = ...,
    edits: Edits = ...,
    cancelled: Callable[[], bool] | None = ...,
    progress: Callable[[str], None] | None = ...,
) -> list[Trace]: ...


@overload
def record(
    text: str,
    *,
    model: str | os.PathLike[str] | Model = ...,
    mask: Mask | Literal["causal"] | None = ...,
    scale: float | None = ...,
    values: bool = ...,
    edits: Edits = ...,
    keep: Sequence[str] = ...,
    cancelled: Callable[[], bool] | None = ...,
    progress: Callable[[str], None] | None = ...,
) -> Trace: ...


@overload
def record(
    text: str | Mapping[str, Any],
    *,
    model: TorchModel,
    tokenizer: Any = ...,
    target: str | None = ...,
    values: bool = ...,
    edits: Edits = ...,
    keep: Sequence[str] = ...,
    cancelled: Callable[[], bool] | None = ...,
    progress: Callable[[str], None] | None = ...,
) -> list[Trace]: ...


@overload
def record(
    text: Any,
    *,
    model: TorchModel,
    processor: Any,
    values: bool = ...,
    edits: Edits = ...,
    keep: Sequence[str] = ...,
    cancelled: Callable[[], bool] | None = ...,
    progress: Callable[[str], None] | None = ...,
) -> list[Trace]: ...


def record(
    text: Any,
    *,
    model: Any = "minilm",
    tokenizer: Any = None,
    processor: Any = None,
    target: str | None = None,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    values: bool = True,
    keep: Sequence[str] = (),
    edits: Edits = (),
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Trace | list[Trace]:
    """Run a model over a text and record its trace, layer by layer, in memory linear in the length of the text.

    Args:
        text: one or more words, with at most as many tokens as the model has positions; with a model of transformers,
            also a dict of its inputs, for one text, sound or picture; with `processor`, a picture: a path, a picture of
            Pillow's, or a uint8 array of (height, width, 3).
        model: a name from the catalogue, a folder, or a loaded model; or a model of transformers 5, in evaluation mode.
            A folder whose family Eyeline doesn't implement in NumPy runs through transformers, if that is installed.
        tokenizer: the tokenizer of a model of transformers.
        processor: the image processor of a vision model of transformers, whose tokens are the patches of a picture:
            the trace then keeps the picture as the model saw it, at most 512 pixels wide (`Trace.image`).
        target: the answer given to the decoder of an encoder-decoder; the model's own if not given.
        mask: "causal" (no looking ahead) or any mask, in addition to the model's own mask.
        scale: the factor of the scores; as trained if not given.
        values: whether to keep values, which are needed to show a token's new vector.
        keep: what else to keep: "vectors" for `Trace.vectors` of all tokens; "input" for what goes into each layer's
            projections and what attention adds, which `Trace.projections` needs; and heads, such as "L0H3", whose
            matrices the trace's file is to have.
        edits: what is changed in some heads (`eyeline.edits`): their tokens by word, as `explain` finds it, or by
            position. The trace keeps them, and its weights are the edited ones.
        cancelled: called before each layer; returns whether to stop.
        progress: called with a line of text at each step of fetching a model, and of running it.

    Returns:
        The `Trace`. For a model of transformers, a list of traces: one, or those of encoder, decoder and
        cross-attention, as for Eyeline's own encoder-decoder ("dates").

    Raises:
        TraceError: if the text isn't a text, or scale isn't a finite number; a ValueError.
        EditError: if the model hasn't an edit's layer or head, or a word isn't in the text, or is in it twice; a
            ValueError.
        HuggingFaceError: if a model of transformers computes scores or attention in a way that Eyeline doesn't support;
            a ValueError.
        ModelError: if the model is unknown, its files are invalid, or the text is too long for it; a ValueError.
        Cancelled: if `cancelled` returned True.

    >>> record("time flies like an arrow")
    <Trace of 'time flies like an arrow': minilm, as trained, 6 × 12 heads, 7 tokens>
    >>> for trace in record("3rd of March, 2021", model="dates"):
    ...     print(trace.name, trace.queries.text, len(trace.queries), len(trace.across))
    encoder 3rd of March, 2021 18 18
    decoder 2021-03-03 11 11
    cross 2021-03-03 11 18
    """
    wanted, changes = Keep(values=values, measures=True), several(edits)
    if hasattr(model, "named_modules"):  # torch's
        if mask is not None or scale is not None:
            raise TraceError(worded("mask and scale must be left out with a model of transformers, which has its own"))
        if processor is not None:
            if tokenizer is not None or target is not None:
                raise TraceError(
                    worded("tokenizer and target must be left out with a processor, which is for pictures")
                )
            from eyeline.traces.transformers_pictures import record_picture

            return [record_picture(text, model, processor, keep_of(keep, wanted), cancelled, progress, changes)]
        if not isinstance(text, (str, Mapping)):
            raise TraceError(
                worded(
                    "text must be a string, or a dict of the model's inputs, got {type}; of a picture, give "
                    "processor=AutoImageProcessor.from_pretrained(...) too",
                    type=type(text).__name__,
                )
            )
        from eyeline.traces.transformers_traces import record_inputs

        return record_inputs(text, model, tokenizer, target, keep_of(keep, wanted), cancelled, progress, changes)
    if tokenizer is not None or processor is not None:
        name = "processor" if tokenizer is None else "tokenizer"
        raise TraceError(worded("{name} must be left out with a model that isn't of transformers", name=name))
    if not isinstance(text, str):
        raise TraceError(worded("text must be a string, got {type}", type=type(text).__name__))
    if not text.strip():
        raise TraceError(worded("text must have at least one word, got {text!r}", text=text[:20]))
    asked = text_model(model, progress=progress)
    wanted = keep_of(keep, wanted, asked.layers, asked.heads)

    def layer_done(done: int, layers: int) -> None:
        if progress is not None and done:
            progress(worded("{model}: layer {done} of {count}", model=asked.name, done=done, count=layers))

    if isinstance(asked, OwnEncoderDecoder):
        if mask is not None or scale is not None:
            raise TraceError(only_decoder_is_causal(mask if scale is None else scale))
        parts = asked.record_parts(
            text, wanted, target=target, edits=changes, cancelled=cancelled, layer_done=layer_done
        )
        return parts.traces
    if target is not None:
        raise TraceError(
            worded(
                "target must be left out with a model that isn't an encoder-decoder, got {target!r:.40}", target=target
            )
        )
    return record_text(
        asked,
        asked.read(text),
        mask=mask,
        scale=scale,
        keep=wanted,
        edits=changes,
        cancelled=cancelled,
        layer_done=layer_done,
    )


def record_tokens(
    model: Model,
    tokens: Tokens,
    *,
    prompt: int | None = None,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    keep: Keep | None = None,
    edits: Edits = (),
    cancelled: Callable[[], bool] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Trace:
    """Run a model over tokens and record its trace; the last tokens may have been generated.

    Args:
        model: one of Eyeline's models.
        tokens: a text's tokens.
        prompt: the number of prompt tokens, if the others were generated.
        keep: what the trace keeps; as for `record` if not given.
        mask, scale, edits, cancelled: as for `record`.
        layer_done: called after each layer with the number of finished layers and of all layers.
    """
    return record_text(
        text_model(model),
        ReadText(tokens, prompt=prompt),
        mask=mask,
        scale=scale,
        keep=Keep(measures=True) if keep is None else keep,
        edits=edits,
        cancelled=cancelled,
        layer_done=layer_done,
    )


def record_text(
    model: TextModel,
    text: ReadText,
    *,
    keep: Keep,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    edits: Edits = (),
    cancelled: Callable[[], bool] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Trace:
    """Run any model over a read text and record its trace: the only way from a text to a trace."""
    tokens = text.tokens
    if not tokens.has_words:
        raise TraceError(
            worded("text must have at least one word, got {text!r}, which has none", text=tokens.text[:20])
        )
    if scale is not None and not np.isfinite(scale):
        raise TraceError(worded("scale must be a finite number, got {scale!r}", scale=scale))
    if isinstance(mask, str):
        if mask != "causal":
            raise TraceError(worded("mask must be 'causal' or a mask of eyeline, got {mask!r}", mask=mask))
        mask = Causal()
    return model.record(
        text, keep, mask=mask, scale=scale, edits=several(edits), cancelled=cancelled, layer_done=layer_done
    )

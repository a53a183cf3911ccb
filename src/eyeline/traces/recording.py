"""Running a model, and keeping its trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import numpy as np

from eyeline.masks import Causal, Mask
from eyeline.readouts.observation import Observation
from eyeline.traces.allowed import Allowed, allowed
from eyeline.traces.errors import Cancelled, TraceError
from eyeline.traces.measures import asked, measures
from eyeline.traces.tokenized_text import of_tokens
from eyeline.traces.trace import LayerTrace, Sizes, Trace

if TYPE_CHECKING:
    from eyeline.models import Model, Tokens


class TorchModel(Protocol):
    """A model of transformers: a module of torch, which this room doesn't import."""

    def named_modules(self) -> Iterable[tuple[str, Any]]:
        """Its parts by their paths."""


@overload
def record(
    text: str,
    *,
    model: str | os.PathLike[str] | Model = ...,
    mask: Mask | Literal["causal"] | None = ...,
    scale: float | None = ...,
    values: bool = ...,
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
    cancelled: Callable[[], bool] | None = ...,
    progress: Callable[[str], None] | None = ...,
) -> list[Trace]: ...


def record(
    text: Any,
    *,
    model: Any = "minilm",
    tokenizer: Any = None,
    target: str | None = None,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    values: bool = True,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Trace | list[Trace]:
    """Run a model over a text and keep its trace, layer by layer, in memory that grows with the text.

    Args:
        text: one word or more, as many tokens as the model has positions at most; with a model of transformers, also a
            dict of what it is called with, of one text, sound or picture.
        model: a name of the catalogue, a folder, or a loaded model; or a model of transformers 5, in evaluation mode.
        tokenizer: of a model of transformers.
        target: of an encoder-decoder of transformers, the answer that its decoder is given; its own if not said.
        mask: "causal" (no looking ahead) or any mask, beside what the model says itself.
        scale: what scores are multiplied by; as trained if not given.
        values: whether values are kept too, which are needed to see what a token becomes.
        cancelled: asked before each layer whether to give up.
        progress: called with a line of text at each step of fetching a model, and of running it.

    Returns:
        The `Trace`. Of a model of transformers a list of them: one, or those of encoder, decoder and cross-attention.

    Raises:
        TraceError: if the text is none, or scale isn't a finite number; a ValueError.
        HuggingFaceError: if a model of transformers computes its scores or its attention in its own way; a ValueError.
        ModelError: if the model is unknown or its files are wrong, or the text is too long for it; a ValueError.
        Cancelled: if `cancelled` said so.

    >>> record("time flies like an arrow")
    <Trace of 'time flies like an arrow': minilm, as trained, 6 × 12 heads, 7 tokens>
    """
    if hasattr(model, "named_modules"):  # torch's
        if mask is not None or scale is not None:
            raise TraceError("mask and scale must be left out with a model of transformers, which has its own")
        from eyeline.traces.hugging import record_hugging

        return record_hugging(text, model, tokenizer, target, values, cancelled, progress)
    if tokenizer is not None or target is not None:
        raise TraceError("tokenizer and target must be left out with a model that isn't of transformers")
    if not isinstance(text, str):
        raise TraceError(f"text must be a string, got {type(text).__name__}")
    if not text.strip():
        raise TraceError(f"text must have at least one word, got {text[:20]!r}")
    if isinstance(model, (str, os.PathLike)):
        from eyeline.models import load

        model = load(model, progress=progress)
    return record_tokens(
        model,
        model.tokens(text),
        mask=mask,
        scale=scale,
        values=values,
        cancelled=cancelled,
        progress=progress,
    )


def record_tokens(
    model: Model,
    tokens: Tokens,
    *,
    prompt: int | None = None,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    values: bool = True,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Trace:
    """The same of tokens, the last of which may have been generated.

    Args:
        model: the model.
        tokens: its tokens of a text.
        prompt: how many of them were given, if the others were generated.
        mask, scale, values, cancelled, progress: as for `record`.
    """
    if all(special or word is None for special, word in zip(tokens.special, tokens.words, strict=True)):
        raise TraceError(
            f"text must have at least one word, got {tokens.text[:20]!r}, of which the tokenizer makes none"
        )
    if scale is not None and not np.isfinite(scale):
        raise TraceError(f"scale must be a finite number, got {scale!r}")
    if isinstance(mask, str):
        if mask != "causal":
            raise TraceError(f"mask must be 'causal' or a mask of eyeline, got {mask!r}")
        mask = Causal()
    config = model.config
    if config.causal and mask == Causal():
        mask = None  # its tokens look only back as it is
    line = of_tokens(tokens, causal=config.causal, prompt=prompt)
    layers: list[LayerTrace] = []
    seen: list[Observation] = []
    masks: list[tuple[Mask | None, Allowed]] = []
    running = model.layers([tokens.ids], mask=mask, scale=scale, read=asked(line, None))
    for number in range(1, config.layers + 1):
        if cancelled is not None and cancelled():
            raise Cancelled
        layer = next(running)
        q, k, v, lse = layer.q[0], layer.k[0], layer.v[0], layer.lse[0]
        if not masks or masks[-1][0] != layer.mask:
            masks.append((layer.mask, allowed(layer.mask, len(q), len(line), len(line))))
        layers.append(
            LayerTrace(
                np.ascontiguousarray(q),
                np.ascontiguousarray(k),
                np.ascontiguousarray(v) if values else None,
                lse,
                1 / config.head_dim**0.5 if scale is None else float(scale),
                masks[-1][1],
            )
        )
        seen.append(replace(layer.seen, output=layer.output[:, :, :0]))
        if progress is not None:
            progress(f"{model.name}: layer {number} of {config.layers}")
    E = layers[0].v.shape[2] if layers[0].v is not None else 0
    sizes = Sizes(model.name, config.layers, config.heads, config.key_heads, config.head_dim, E)
    kind: Literal["encoder", "decoder"] = "decoder" if config.causal else "encoder"
    return Trace(name_of(mask, scale), sizes, kind, line, None, tuple(layers), measures(seen))


def name_of(mask: Mask | None, scale: float | None) -> str:
    """What a run is called, by what was changed.

    >>> name_of(Causal(), 1.0), name_of(None, None)
    ('causal, without ÷ √d', 'as trained')
    """
    names = [] if mask is None else ["causal" if mask == Causal() else repr(mask)]
    names += [] if scale is None else ["without ÷ √d" if scale == 1 else f"scale {scale:g}"]
    return ", ".join(names) or "as trained"

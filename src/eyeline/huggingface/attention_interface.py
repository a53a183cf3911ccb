"""The attention function that transformers' models call, registered as `attn_implementation="eyeline"`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn
from torch.compiler import is_compiling

from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.observers import followers_of
from eyeline.huggingface.structured_mask import StructuredMask
from eyeline.masks import Causal, Dense, Mask
from eyeline.readouts import Weights
from eyeline.torch.attending import attention, drawn_seed
from eyeline.words import worded

#: The largest size in bytes of one call's weights with `output_attentions=True`.
_LARGEST_WEIGHTS = 1 << 30
try:
    #: What transformers is collecting during a pass, by name; older versions have none.
    _COLLECTOR = getattr(import_module("transformers.utils.output_capturing"), "_active_collector", None)
except ImportError:
    _COLLECTOR = None


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: StructuredMask | Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    *,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    sinks: Tensor | None = None,
    is_causal: bool | None = None,
    output_attentions: bool | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    """Compute attention for a model's attention module.

    Under `torch.autocast` query, key and value are cast to its dtype, except float64, as `sdpa` casts them.

    Args:
        module: the calling attention module.
        query: (B, H, N, D).
        key, value: (B, G, M, D) and (B, G, M, E), not repeated over the H/G query heads that share one.
        attention_mask: the result of `mask_interface.mask`; or the user's own 4-D tensor, of booleans or of numbers
            that are added to the scores.
        dropout: the dropout probability; 0 when the model isn't training.
        scaling: the factor of the scores, 1/√D if None.
        softcap: the cap on the scaled scores (Gemma 2).
        s_aux: the sink logits, (H,) (GPT-OSS).
        position_bias: the position bias, (1 or B, H, N, M) (T5).
        sinks: one sink per query (Inkling), which isn't supported.
        is_causal: whether attention is causal, where there is no mask.
        output_attentions: whether to return the weights, (B, H, N, M).
        kwargs: other arguments that models pass; none of them changes attention.

    Returns:
        The output, (B, N, H, E), contiguous; and the weights if they were asked for, else None.

    Raises:
        HuggingFaceError: if the model needs a kind of attention that Eyeline doesn't compute.
    """
    # Most calls are plain, and pay for nothing else: with cold caches, each line here counts.
    if (
        type(attention_mask) is StructuredMask
        and attention_mask.is_of(query, key)
        and not (dropout or output_attentions)
        and softcap is None
        and s_aux is position_bias is sinks is None
        and query.is_cpu
        and not torch.is_autocast_enabled("cpu")
        and not _collecting_weights()
        and (is_compiling() or followers_of(module) is None)
    ):
        output = attention(query, key, value, mask=attention_mask.computed, scale=scaling, tokens_first=True)
        return output.transpose(1, 2).contiguous(), None
    if sinks is not None:
        raise HuggingFaceError(
            worded(
                "attention must have sinks of one number per head, got one per query in {type}; Eyeline "
                "can't follow it, so run it with attn_implementation='eager'",
                type=type(module).__name__,
            )
        )
    kind = query.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):  # "meta" has none
        query, key, value = (_autocast(x) for x in (query, key, value))
    structured = attention_mask if isinstance(attention_mask, StructuredMask) else None
    mask, bias = _mask_and_bias(attention_mask, query, key, is_causal)
    call = AttentionCall(
        query,
        key,
        value,
        structured,
        mask,
        structured.computed if structured is not None and mask is structured.mask else mask,
        scaling,
        softcap,
        [array for array in (position_bias, bias) if array is not None],
        s_aux,
        float(dropout),
        drawn_seed() if dropout else None,
    )
    followers = None if is_compiling() else followers_of(module)
    if followers is not None:
        call = followers.edited(module, call)
    weights = _weights(call) if output_attentions or _collecting_weights() else None
    output = call.output() if followers is None else followers.output(module, call)
    return output.transpose(1, 2).contiguous(), weights


def _autocast(x: Tensor) -> Tensor:
    """Cast a tensor to autocast's dtype: rotary models pass q and k in float32, v in bfloat16."""
    if not x.is_floating_point() or x.dtype == torch.float64:
        return x
    return x.to(torch.get_autocast_dtype(x.device.type))


def _mask_and_bias(
    given: StructuredMask | Tensor | None, query: Tensor, key: Tensor, is_causal: bool | None
) -> tuple[Mask | None, Tensor | None]:
    """The mask, and the bias added to the scores."""
    if given is None:
        N, M = query.shape[2], key.shape[2]
        return (Causal(None if N == M else "end") if is_causal and N > 1 else None), None
    if isinstance(given, StructuredMask):
        given.check_current()
        if given.shape[3] != key.shape[2]:
            raise HuggingFaceError(
                worded(
                    "attention must be to the {shape} keys that its mask is of, got {got}; this model adds "
                    "keys of its own, and Eyeline can't follow it",
                    shape=given.shape[3],
                    got=key.shape[2],
                )
            )
        if not given.is_of(query, key):  # one row for all queries
            return _mask_and_bias(given.dense(), query, key, is_causal)
        return given.mask, None
    given = given[..., : key.shape[2]]
    if given.dtype == torch.bool:
        return Dense(given), None
    # An additive mask: the dtype's minimum, or less, hides a key; the rest, unless all 0, is a bias.
    hidden = given <= torch.finfo(given.dtype).min
    rest = given.masked_fill(hidden, 0)
    biased = is_compiling() or given.requires_grad or bool(rest.any())
    return Dense(~hidden), rest if biased else None


def _collecting_weights() -> bool:
    """Whether transformers is collecting weights: not every model passes `output_attentions` to this function."""
    collected = None if _COLLECTOR is None else _COLLECTOR.get()
    return bool(collected and any(name.endswith("attentions") for name in collected))


def _weights(call: AttentionCall) -> Tensor:
    """All weights of a call, (B, H, N, M)."""
    B, H, N, _ = call.q.shape
    size = B * H * N * call.k.shape[2] * 4
    if size > _LARGEST_WEIGHTS:
        raise HuggingFaceError(
            worded(
                "output_attentions must be left out where the weights of one layer take {size:.1f} GB, got "
                "True for {N} queries and {shape} keys; read what you want to know of them with eyeline.watch",
                size=size / 1000000000.0,
                N=N,
                shape=call.k.shape[2],
            )
        )
    weights: Any = call.observe([Weights()])[1].weights
    return torch.as_tensor(weights).to(call.q.dtype)

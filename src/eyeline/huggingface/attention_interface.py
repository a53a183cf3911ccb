"""The attention function that transformers' models call, registered as `attn_implementation="eyeline"`."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn

from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.mask_interface import StructuredMask
from eyeline.huggingface.observers import observer_of
from eyeline.masks import Causal, Dense, Mask
from eyeline.readouts import Weights
from eyeline.torch.attending import drawn_seed

#: The most bytes that the weights of one call may take with `output_attentions=True`.
_LARGEST_WEIGHTS = 1 << 30


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
    """Attention, as a model's attention module asks for it.

    Under `torch.autocast` query, key and value are cast to its type, float64 excepted, as `sdpa` casts them.

    Args:
        module: the attention module that calls.
        query: (B, H, N, D).
        key, value: (B, G, M, D) and (B, G, M, E), not repeated over the H/G query heads that share one.
        attention_mask: what `mask_interface.mask` made; or a 4-D tensor of the user's own, booleans or numbers that are
            added to the scores.
        dropout: the share of the weights that is dropped; 0 when the model isn't training.
        scaling: what scores are multiplied by, 1/√D if None.
        softcap: Gemma 2's cap of the scaled scores.
        s_aux: GPT-OSS's sinks, (H,).
        position_bias: T5's bias, (1 or B, H, N, M).
        sinks: Inkling's sinks, one for each query, which aren't supported.
        is_causal: whether queries look only back, where there is no mask to say it.
        output_attentions: whether to return the weights themselves, (B, H, N, M).
        kwargs: whatever else models pass on; none of it changes attention.

    Returns:
        The output, (B, N, H, E), contiguous; and the weights if they were asked for, else None.

    Raises:
        HuggingFaceError: if the model asks for what Eyeline doesn't compute.
    """
    if sinks is not None:
        raise HuggingFaceError(
            f"attention must have sinks of one number per head, got one per query in {type(module).__name__}; Eyeline "
            f"can't follow it, so run it with attn_implementation='eager'"
        )
    query, key, value = (_autocast(x) for x in (query, key, value))
    mask, bias = _mask_and_bias(attention_mask, query, key, is_causal)
    call = AttentionCall(
        query,
        key,
        value,
        attention_mask if isinstance(attention_mask, StructuredMask) else None,
        mask,
        scaling,
        softcap,
        [array for array in (position_bias, bias) if array is not None],
        s_aux,
        float(dropout),
        drawn_seed() if dropout else None,
    )
    weights = _weights(call) if output_attentions or _collecting_weights() else None
    observer = None if torch.compiler.is_compiling() else observer_of(module)
    output = call.output() if observer is None else observer.observe(module, call)
    return output.transpose(1, 2).contiguous(), weights


def _autocast(x: Tensor) -> Tensor:
    """A tensor in autocast's type, where it is on. Rotary models give q and k in float32 then, and v in bfloat16."""
    kind = x.device.type
    if not torch.amp.is_autocast_available(kind) or not torch.is_autocast_enabled(kind):  # "meta" has none
        return x
    if not x.is_floating_point() or x.dtype == torch.float64:
        return x
    return x.to(torch.get_autocast_dtype(kind))


def _mask_and_bias(
    given: StructuredMask | Tensor | None, query: Tensor, key: Tensor, is_causal: bool | None
) -> tuple[Mask | None, Tensor | None]:
    """The mask, and the bias that is added to scores."""
    if given is None:
        N, M = query.shape[2], key.shape[2]
        return (Causal(None if N == M else "end") if is_causal and N > 1 else None), None
    if isinstance(given, StructuredMask):
        if given.shape[3] != key.shape[2]:
            raise HuggingFaceError(
                f"attention must be to the {given.shape[3]} keys that its mask is of, got {key.shape[2]}; this model "
                f"adds keys of its own, and Eyeline can't follow it"
            )
        if given.shape[2] != query.shape[2]:  # one row for all queries
            return _mask_and_bias(given.dense(), query, key, is_causal)
        return given.mask, None
    given = given[..., : key.shape[2]]
    if given.dtype == torch.bool:
        return Dense(given), None
    # Numbers to be added: the least of the type, or less, hides; the rest, unless all 0, is a bias.
    hidden = given <= torch.finfo(given.dtype).min
    rest = given.masked_fill(hidden, 0)
    biased = torch.compiler.is_compiling() or given.requires_grad or bool(rest.any())
    return Dense(~hidden), rest if biased else None


def _collecting_weights() -> bool:
    """Whether transformers is collecting weights: not every model passes `output_attentions` on to here."""
    capturing = sys.modules.get("transformers.utils.output_capturing")
    collector = getattr(capturing, "_active_collector", None)
    collected = None if collector is None else collector.get()
    return any(name.endswith("attentions") for name in collected or ())


def _weights(call: AttentionCall) -> Tensor:
    """All weights of a call, (B, H, N, M)."""
    B, H, N, _ = call.q.shape
    size = B * H * N * call.k.shape[2] * 4
    if size > _LARGEST_WEIGHTS:
        raise HuggingFaceError(
            f"output_attentions must be left out where the weights of one layer take {size / 1e9:.1f} GB, got True for "
            f"{N} queries and {call.k.shape[2]} keys; read what you want to know of them with eyeline.watch"
        )
    return call.observe([Weights()]).weights.to(call.q.dtype)  # type: ignore[no-any-return]

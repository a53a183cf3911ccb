"""The attention function that transformers' models call."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn

from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.masking import Masking
from eyeline.huggingface.request import Request
from eyeline.huggingface.watcher import watcher_of
from eyeline.masks import Causal, Dense, Mask
from eyeline.readouts import Weights
from eyeline.torch.attending import drawn_seed

#: Weights of one call that `output_attentions=True` may have, in bytes.
_MOST = 1 << 30


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Masking | Tensor | None,
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
    """What a model's attention module calls in place of its own.

    Args:
        module: which attention module this is.
        query: (B, H, N, D).
        key, value: (B, G, M, D) and (B, G, M, E), not repeated over the H/G query heads that share one.
        attention_mask: what `masking.mask` made; or a 4-D tensor of the user's own, booleans or numbers that are added.
        dropout: the share of the weights that is dropped; 0 when the model isn't training.
        scaling: what scores are multiplied by, 1/√D if None.
        softcap: Gemma 2's cap of the scaled scores.
        s_aux: GPT-OSS's sinks, (H,).
        position_bias: T5's bias, (1 or B, H, N, M).
        sinks: Inkling's sinks, one for each query, which can't be followed.
        is_causal: whether queries look only back, where there is no mask to say it.
        output_attentions: whether the weights themselves are wanted, (B, H, N, M).
        kwargs: what else models hand around; none of it changes attention.

    Returns:
        The output, (B, N, H, E), contiguous, and the weights if they were wanted, else None.
    """
    if sinks is not None:
        raise HuggingFaceError(
            f"attention must have sinks of one number per head, got one per query in {type(module).__name__}; Eyeline "
            f"can't follow it, so run it with attn_implementation='eager'"
        )
    mask, bias = _hidden(attention_mask, query, key, is_causal)
    request = Request(
        query,
        key,
        value,
        attention_mask if isinstance(attention_mask, Masking) else None,
        mask,
        scaling,
        softcap,
        [array for array in (position_bias, bias) if array is not None],
        s_aux,
        float(dropout),
        drawn_seed() if dropout else None,
    )
    weights = _weights(request) if output_attentions or _gathered() else None
    watcher = None if torch.compiler.is_compiling() else watcher_of(module)
    output = request.output() if watcher is None else watcher.look(module, request)
    return output.transpose(1, 2).contiguous(), weights


def _hidden(
    given: Masking | Tensor | None, query: Tensor, key: Tensor, is_causal: bool | None
) -> tuple[Mask | None, Tensor | None]:
    """The mask, and what is added to scores beside it."""
    if given is None:
        N, M = query.shape[2], key.shape[2]
        return (Causal(None if N == M else "end") if is_causal and N > 1 else None), None
    if isinstance(given, Masking):
        if given.shape[3] != key.shape[2]:
            raise HuggingFaceError(
                f"attention must be to the {given.shape[3]} keys that its mask is of, got {key.shape[2]}; this model "
                f"adds keys of its own, and Eyeline can't follow it"
            )
        if given.shape[2] != query.shape[2]:  # one row for all queries
            return _hidden(given.dense(), query, key, is_causal)
        return given.mask, None
    given = given[..., : key.shape[2]]
    if given.dtype == torch.bool:
        return Dense(given), None
    # Numbers to be added: the least there is, or less, hides; the rest, if it isn't all 0, is a bias.
    hidden = given <= torch.finfo(given.dtype).min
    rest = given.masked_fill(hidden, 0)
    biased = torch.compiler.is_compiling() or given.requires_grad or bool(rest.any())
    return Dense(~hidden), rest if biased else None


def _gathered() -> bool:
    """Whether transformers is gathering weights: not every model hands `output_attentions` down to here."""
    capturing = sys.modules.get("transformers.utils.output_capturing")
    collector = getattr(capturing, "_active_collector", None)
    gathering = None if collector is None else collector.get()
    return any(name.endswith("attentions") for name in gathering or ())


def _weights(request: Request) -> Tensor:
    size = request.q.shape[0] * request.q.shape[1] * request.q.shape[2] * request.k.shape[2] * 4
    if size > _MOST:
        raise HuggingFaceError(
            f"output_attentions must be left out where the weights of one layer take {size / 1e9:.1f} GB, got True for "
            f"{request.q.shape[2]} queries and {request.k.shape[2]} keys; read what you want to know of them with "
            f"eyeline.watch"
        )
    weights: Any = request.observe([Weights()]).weights
    return weights.to(request.q.dtype)  # type: ignore[no-any-return]

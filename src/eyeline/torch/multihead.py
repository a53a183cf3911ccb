"""A drop-in replacement for `torch.nn.MultiheadAttention`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from eyeline.masks import Causal, Dense, Mask
from eyeline.readouts import Readout, Weights
from eyeline.readouts.observation import Observation
from eyeline.scores import Bias
from eyeline.torch.attending import attention, drawn_seed, observe
from eyeline.words import worded


class InputError(ValueError, AssertionError):
    """Input that doesn't fit: a `ValueError`, and the `AssertionError` that `torch.nn.MultiheadAttention` raises."""


class MultiheadAttention(torch.nn.MultiheadAttention):
    """`torch.nn.MultiheadAttention`, computed by Eyeline: the same arguments, parameters and results.

    Differences: A query that may look at nothing gets zeros (plus the output projection's bias), not NaN. Returned
    weights come from the same computation, and cost only their own memory; with dropout, they are the weights before
    it. `is_causal=True` needs no `attn_mask`. Dropout is a function of one seed drawn from torch's default generator.
    Nested tensors are not supported.

    The constructor and the state dict are the same as those of `torch.nn.MultiheadAttention`, so checkpoints load
    either way; see there for the arguments. In a `torch.nn.TransformerEncoderLayer`, assign it to `self_attn`.

    >>> layer = MultiheadAttention(16, 4, batch_first=True)
    >>> x = torch.zeros(2, 5, 16)
    >>> output, weights = layer(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 16]), torch.Size([2, 5, 5]))
    """

    def forward(  # type: ignore[override]
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        read: Readout | Sequence[Readout] | None = None,
    ) -> tuple[Tensor, Tensor | Observation | None]:
        """Attention of `query` to `key` and `value`.

        Args:
            query: (L, N, E), (N, L, E) with `batch_first`, or (L, E) of one sequence; N here is the batch.
            key, value: (S, N, kdim) and (S, N, vdim), or likewise.
            key_padding_mask: (N, S) or (S,), booleans, True where a key is NOT to be looked at, or numbers that are
                added to the scores.
            need_weights: whether to return the weights, (N, L, S).
            attn_mask: (L, S) or (N·heads, L, S), booleans, True where a query may NOT look, or numbers that are added.
            average_attn_weights: whether to average the weights over the heads, else they are (N, heads, L, S).
            is_causal: each query may look at keys up to its own position; an `attn_mask` is then assumed to be causal.
            read: readouts, such as `eyeline.TopK(8)`: then an `Observation` is returned in place of the weights, for
                each head separately, (N, heads, L, ...). Its `output` is the heads' output, before the output
                projection.

        Returns:
            The output, of `query`'s shape, and the weights, the observation, or None.

        Raises:
            InputError: if shapes or types don't fit; it is a ValueError and, as in torch, an AssertionError.
        """
        _check(self, query, key, value, key_padding_mask, attn_mask)
        single = query.ndim == 2
        if single:
            query, key, value = _batched(query, key, value, 0 if self.batch_first else 1)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        q, k, v = (self._heads(x) for x in self._projected(query, key, value))
        k, v, extra = self._extended(k, v)
        mask, scores = _mask(q, k, key_padding_mask, attn_mask, is_causal, extra)
        dropout = self.dropout if self.training else 0.0
        seed = drawn_seed() if dropout else None
        options: Any = {"mask": mask, "scores": scores, "dropout": dropout, "seed": seed}
        second: Any = None
        if read is not None:
            second = observe(q, k, v, **options, read=read)
            heads = second.output
        elif need_weights:
            found: Any = observe(q, k, v, **options, read=Weights())
            heads, second = found.output, found.weights.to(q.dtype)
            second = second.mean(dim=1) if average_attn_weights else second
        else:
            heads = attention(q, k, v, **options)
        tokens = heads.transpose(1, 2).flatten(2)
        output = self.out_proj(tokens if self.batch_first else tokens.transpose(0, 1))
        if not single:
            return output, second
        if isinstance(second, Tensor):
            second = second[0]
        return output.squeeze(0 if self.batch_first else 1), second

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Each token's query, key and value, with all heads side by side."""
        bias = None if self.in_proj_bias is None else self.in_proj_bias.to(query.dtype)
        if self._qkv_same_embed_dim and query is key and key is value:
            return functional.linear(query, self.in_proj_weight, bias).chunk(3, dim=-1)
        weights: Any = (
            self.in_proj_weight.chunk(3)
            if self._qkv_same_embed_dim
            else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        )
        biases: Any = (None,) * 3 if bias is None else bias.chunk(3)
        return tuple(functional.linear(*given) for given in zip((query, key, value), weights, biases, strict=True))

    def _heads(self, x: Tensor) -> Tensor:
        """(N, heads, tokens, width), a view."""
        x = x.view(*x.shape[:-1], self.num_heads, self.head_dim)
        return x.transpose(1, 2) if self.batch_first else x.permute(1, 2, 0, 3)

    def _extended(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, int]:
        """Keys and values, with the learned and the zero ones appended, and the number of these."""
        extra = 0
        if self.bias_k is not None and self.bias_v is not None:
            learned = (self.bias_k, self.bias_v)
            k, v = (
                torch.cat([x, bias.reshape(1, self.num_heads, 1, -1).expand(x.shape[0], -1, -1, -1).to(x)], dim=2)
                for x, bias in zip((k, v), learned, strict=True)
            )
            extra += 1
        if self.add_zero_attn:
            k, v = (functional.pad(x, (0, 0, 0, 1)) for x in (k, v))
            extra += 1
        return k, v, extra


def _batched(query: Tensor, key: Tensor, value: Tensor, axis: int) -> tuple[Tensor, ...]:
    """One sequence as a batch. Arguments that are the same tensor stay so, since they are then projected together."""
    one = query.unsqueeze(axis)
    two = one if key is query else key.unsqueeze(axis)
    return one, two, two if value is key else value.unsqueeze(axis)


def _mask(
    q: Tensor, k: Tensor, padding: Tensor | None, attn_mask: Tensor | None, is_causal: bool, extra: int
) -> tuple[Mask | None, list[Bias]]:
    """torch's two masks as one Eyeline mask and biases; all queries may look at the `extra` keys at the end."""
    B, H = q.shape[:2]
    mask: Mask | None = None
    scores: list[Bias] = []
    if is_causal:
        mask = Causal("start")
        if extra:
            last = torch.arange(k.shape[2], device=q.device) >= k.shape[2] - extra
            mask = mask | Dense(last[None])
        attn_mask = None
    if attn_mask is not None and attn_mask.ndim == 3:
        attn_mask = attn_mask.reshape(B, H, *attn_mask.shape[1:])
    if padding is not None:
        padding = padding[:, None, None]
    for given in (attn_mask, padding):
        if given is None:
            continue
        added = functional.pad(given, (0, extra)) if extra else given
        if added.dtype == torch.bool:
            allowed = ~added
        elif _hides_only(added):
            allowed = added == 0
        else:
            scores.append(Bias(added))
            continue
        mask = Dense(allowed) if mask is None else mask & Dense(allowed)
    return mask, scores


def _hides_only(added: Tensor) -> bool:
    """Whether all numbers are 0 or -inf: then they are a mask, which costs less than a bias. A compiled function can't
    check this."""
    if added.requires_grad or torch.compiler.is_compiling():
        return False
    return bool(((added == 0) | (added == -torch.inf)).all())


def _check(
    module: torch.nn.MultiheadAttention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Tensor | None,
    attn_mask: Tensor | None,
) -> None:
    """Check shapes and types, with the error messages of `torch.nn.MultiheadAttention` where it has them."""
    if query.ndim not in (2, 3):
        raise InputError(
            worded(
                "query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor", ndim=query.ndim
            )
        )
    if query.is_nested or key.is_nested or value.is_nested:
        raise InputError(
            worded(
                "MultiheadAttention does not support NestedTensor outside of its fast path, and this one has "
                "no such path; pad the tensors, and pass a key_padding_mask"
            )
        )
    axes = query.ndim
    if key.ndim != axes or value.ndim != axes:
        raise InputError(
            worded(
                "For a {axes}-D `query`, expected `key` and `value` to be {axes}-D but found {ndim}-D and "
                "{other}-D tensors respectively",
                axes=axes,
                ndim=key.ndim,
                other=value.ndim,
            )
        )
    if padding is not None and padding.ndim != axes - 1:
        raise InputError(
            worded(
                "For a {axes}-D `query`, expected `key_padding_mask` to be `None` or {other}-D but found "
                "{ndim}-D tensor instead",
                axes=axes,
                other=axes - 1,
                ndim=padding.ndim,
            )
        )
    if attn_mask is not None and attn_mask.ndim not in (2, 3):
        raise InputError(
            worded(
                "For a {axes}-D `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {ndim}-D "
                "tensor instead",
                axes=axes,
                ndim=attn_mask.ndim,
            )
        )
    for name, x, width in (
        ("query", query, module.embed_dim),
        ("key", key, module.kdim),
        ("value", value, module.vdim),
    ):
        if x.shape[-1] != width:
            raise InputError(
                worded(
                    "{name} must have width {width} in its last axis, got shape {shape}",
                    name=name,
                    width=width,
                    shape=tuple(x.shape),
                )
            )
    if key.shape[:-1] != value.shape[:-1]:
        raise InputError(
            worded(
                "value must have key's tokens, {shape}, got shape {got}",
                shape=tuple(key.shape[:-1]),
                got=tuple(value.shape),
            )
        )
    along = 0 if axes == 2 else int(module.batch_first)
    L, S = query.shape[along], key.shape[along]
    batch = 1 if axes == 2 else query.shape[1 - along]
    if axes == 3 and key.shape[1 - along] != batch:
        raise InputError(
            worded("key must have query's batch, {batch}, got shape {shape}", batch=batch, shape=tuple(key.shape))
        )
    if padding is not None and padding.shape != ((S,) if axes == 2 else (batch, S)):
        raise InputError(
            worded(
                "key_padding_mask must be one entry per key, ({batch}, {S}), got {shape}",
                batch=batch,
                S=S,
                shape=tuple(padding.shape),
            )
        )
    if attn_mask is not None:
        wanted = (L, S) if attn_mask.ndim == 2 else (batch * module.num_heads, L, S)
        if attn_mask.shape != wanted:
            raise InputError(
                worded(
                    "Expected `attn_mask` shape to be {wanted} but got {shape}",
                    wanted=wanted,
                    shape=tuple(attn_mask.shape),
                )
            )
    for name, mask in (("key_padding_mask", padding), ("attn_mask", attn_mask)):
        if mask is not None and mask.dtype != torch.bool and not mask.is_floating_point():
            raise InputError(
                worded(
                    "{name} must be booleans, True where a query may not look, or numbers that are added to the "
                    "scores; only bool and floating types of {name} are supported, got {dtype}",
                    name=name,
                    dtype=mask.dtype,
                )
            )

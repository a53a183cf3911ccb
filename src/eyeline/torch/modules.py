"""Attention layers: self-attention and cross-attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from eyeline.masks import Causal, Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Scores
from eyeline.torch.attending import attention, drawn_seed, observe
from eyeline.torch.cache import Cache
from eyeline.words import worded


class _Attention(nn.Module):
    """The base of the attention layers: four projections, and the splitting into heads."""

    def __init__(
        self, width: int, context_width: int, heads: int, key_heads: int | None, dropout: float, bias: bool, **made: Any
    ) -> None:
        super().__init__()
        key_heads = heads if key_heads is None else key_heads
        if heads < 1 or width % heads:
            raise ValueError(worded("heads must divide the width, {width}, got {heads}", width=width, heads=heads))
        if key_heads < 1 or heads % key_heads:
            raise ValueError(
                worded("key_heads must divide heads, {heads}, got {key_heads}", heads=heads, key_heads=key_heads)
            )
        if not 0 <= dropout < 1:
            raise ValueError(worded("dropout must be a number from 0 to below 1, got {dropout}", dropout=dropout))
        self.heads, self.key_heads, self.dropout = heads, key_heads, dropout
        self.head_dim = width // heads
        self.query = nn.Linear(width, width, bias, **made)
        self.key = nn.Linear(context_width, key_heads * self.head_dim, bias, **made)
        self.value = nn.Linear(context_width, key_heads * self.head_dim, bias, **made)
        self.output = nn.Linear(width, width, bias, **made)

    def extra_repr(self) -> str:
        return f"heads={self.heads}, key_heads={self.key_heads}, head_dim={self.head_dim}, dropout={self.dropout}"

    def _split(self, x: Tensor) -> Tensor:
        """(..., tokens, heads · D) as (..., heads, tokens, D), a view."""
        return x.view(*x.shape[:-1], x.shape[-1] // self.head_dim, self.head_dim).transpose(-2, -3)

    def _joined(self, heads: Tensor) -> Tensor:
        joined: Tensor = self.output(heads.transpose(-2, -3).flatten(-2))
        return joined

    def _settings(self, mask: Mask | None, scores: Scores) -> dict[str, Any]:
        """The arguments of `attention` and `observe`, apart from q, k and v."""
        dropout = self.dropout if self.training else 0.0
        return {"mask": mask, "scores": scores, "dropout": dropout, "seed": drawn_seed() if dropout else None}


class SelfAttention(_Attention):
    """Self-attention: tokens look at the tokens of their own sequence.

    Args:
        width: the width of a token.
        heads: H; each is width / H wide.
        key_heads: G, a divisor of H (grouped-query attention); H if not given.
        rotary: whether to rotate queries and keys by their positions, as in LLaMA: the first half of a head's width
            is paired with the second (Su et al., "RoFormer", 2021).
        causal: whether a token may look only at itself and the tokens before it.
        dropout: the share of weights that is dropped in training; the seed is drawn from torch's default generator.
        bias: whether the projections have biases.

    >>> layer = SelfAttention(32, 4, key_heads=2, rotary=True, causal=True)
    >>> layer(torch.zeros(2, 7, 32)).shape
    torch.Size([2, 7, 32])
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        key_heads: int | None = None,
        rotary: bool = False,
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(width, width, heads, key_heads, dropout, bias, device=device, dtype=dtype)
        if rotary and self.head_dim % 2:
            raise ValueError(
                worded(
                    "rotary must have an even head width, got {head_dim}; change width or heads", head_dim=self.head_dim
                )
            )
        self.rotary, self.causal = rotary, causal

    def forward(
        self, x: Tensor, *, mask: Mask | None = None, scores: Scores = (), cache: Cache | None = None
    ) -> Tensor:
        """The new tokens, of x's shape.

        Args:
            x: tokens, (..., N, width).
            mask: where a query may look at a key, beside `causal`.
            scores: score modifiers, as for `eyeline.attention`.
            cache: keys and values of the earlier tokens, to which those of x are added: the N queries stand at the last
                of the M keys.
        """
        q, k, v, settings = self._asked(x, mask, scores, cache)
        return self._joined(attention(q, k, v, **settings))

    def observe(
        self,
        x: Tensor,
        *,
        read: Readout | Sequence[Readout] = (),
        mask: Mask | None = None,
        scores: Scores = (),
        cache: Cache | None = None,
    ) -> tuple[Tensor, Observation]:
        """The output of `forward`, and readouts of the weights, (..., H, ...); see `eyeline.observe`."""
        q, k, v, settings = self._asked(x, mask, scores, cache)
        seen: Any = observe(q, k, v, **settings, read=read)
        return self._joined(seen.output), seen

    def _asked(
        self, x: Tensor, mask: Mask | None, scores: Scores, cache: Cache | None
    ) -> tuple[Tensor, Tensor, Tensor, dict[str, Any]]:
        q, k, v = (self._split(project(x)) for project in (self.query, self.key, self.value))
        if self.rotary:
            first = 0 if cache is None else cache.length
            turns = rotations(first, x.shape[-2], self.head_dim, x.device)
            q, k = (turned(part, *turns) for part in (q, k))
        if cache is not None:
            k, v = cache.append(k, v)
        if self.causal:
            mask = Causal("end") if mask is None else Causal("end") & mask
        return q, k, v, self._settings(mask, scores)


class CrossAttention(_Attention):
    """Cross-attention: tokens look at the tokens of another sequence, the context.

    Args:
        width, heads, key_heads, dropout, bias: as for `SelfAttention`.
        context_width: the width of the context's tokens; `width` if not given.

    >>> layer = CrossAttention(32, 4, context_width=16)
    >>> layer(torch.zeros(2, 7, 32), torch.zeros(2, 5, 16)).shape
    torch.Size([2, 7, 32])
    """

    def __init__(
        self,
        width: int,
        heads: int,
        context_width: int | None = None,
        *,
        key_heads: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        context_width = width if context_width is None else context_width
        super().__init__(width, context_width, heads, key_heads, dropout, bias, device=device, dtype=dtype)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        mask: Mask | None = None,
        scores: Scores = (),
        cache: Cache | None = None,
    ) -> Tensor:
        """The new tokens, of x's shape.

        Args:
            x: tokens, (..., N, width).
            context: the tokens to look at, (..., M, context_width); left out if the cache has them.
            mask, scores: as for `SelfAttention`.
            cache: an empty cache, which gets the context's keys and values, or one that has them.

        Raises:
            ValueError: if the context is given twice, or not at all.
        """
        q, k, v = self._asked(x, context, cache)
        return self._joined(attention(q, k, v, **self._settings(mask, scores)))

    def observe(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        read: Readout | Sequence[Readout] = (),
        mask: Mask | None = None,
        scores: Scores = (),
        cache: Cache | None = None,
    ) -> tuple[Tensor, Observation]:
        """The output of `forward`, and readouts of the weights, (..., H, ...); see `eyeline.observe`."""
        q, k, v = self._asked(x, context, cache)
        seen: Any = observe(q, k, v, **self._settings(mask, scores), read=read)
        return self._joined(seen.output), seen

    def _asked(self, x: Tensor, context: Tensor | None, cache: Cache | None) -> tuple[Tensor, Tensor, Tensor]:
        q = self._split(self.query(x))
        known = cache is not None and cache.length > 0
        if known == (context is not None):
            raise ValueError(
                worded(
                    "context must be given once, to the call or in the cache, got {given}",
                    given=worded("both") if known else worded("none"),
                )
            )
        if cache is not None and known:
            return q, *cache.all()
        k, v = (self._split(project(context)) for project in (self.key, self.value))
        return (q, k, v) if cache is None else (q, *cache.append(k, v))


def rotations(first: int, tokens: int, width: int, device: Any) -> tuple[Tensor, Tensor]:
    """Cosines and sines for positions from `first` on, float32 (tokens, width / 2): frequencies 10000^(-2i / width)."""
    frequencies = 10_000.0 ** (-torch.arange(0, width, 2, device=device, dtype=torch.float64) / width)
    angles = torch.arange(first, first + tokens, device=device)[:, None] * frequencies
    return angles.cos().float(), angles.sin().float()


def turned(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Tokens (..., tokens, width) rotated in the plane of each coordinate i and i + width / 2."""
    left, right = x.float().chunk(2, dim=-1) if x.dtype.itemsize < 4 else x.chunk(2, dim=-1)
    return torch.cat([left * cosines - right * sines, right * cosines + left * sines], dim=-1).to(x.dtype)

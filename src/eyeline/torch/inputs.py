"""A call's differentiable tensors, whole or cut to a block."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from eyeline.scores import Score, Sinks, sinks_of


class Inputs:
    """q, k, v, and the score modifiers with their parameters, of a whole call or of a block."""

    def __init__(self, q: Tensor, k: Tensor, v: Tensor, scores: tuple[Score, ...]) -> None:
        self.q, self.k, self.v, self.scores = q, k, v, scores

    def tensors(self) -> list[Tensor]:
        """q, k, v, and the parameters in order."""
        return [self.q, self.k, self.v, *(x for score in self.scores for x in score.parameters().values())]

    def like(self, tensors: Sequence[Tensor]) -> Inputs:
        """A copy with other tensors, in the order of `tensors()`."""
        q, k, v, *rest = tensors
        scores = []
        for score in self.scores:
            names = list(score.parameters())
            own, rest = rest[: len(names)], rest[len(names) :]
            scores.append(score.with_parameters(dict(zip(names, own, strict=True))) if names else score)
        return Inputs(q, k, v, tuple(scores))

    def to(self, dtype: torch.dtype) -> Inputs:
        """A copy in this type, on q's device."""
        return self.like([x.to(self.q.device, dtype) for x in self.tensors()])

    def zeros(self) -> Inputs:
        """Zeros of the same shapes."""
        return self.like([torch.zeros_like(x, memory_format=torch.contiguous_format) for x in self.tensors()])

    def cut(self, rows: slice, keys: slice) -> Inputs:
        """The inputs of a block, as views."""
        scores = tuple(score.part(rows, keys) for score in self.scores)
        return Inputs(self.q[:, :, rows], self.k[:, :, keys], self.v[:, :, keys], scores)

    @property
    def logits(self) -> Tensor | None:
        """The sinks' logits, (H,)."""
        sinks = sinks_of(self.scores)
        return None if sinks is None else sinks.logits.to(self.q)

    @property
    def changes(self) -> tuple[Score, ...]:
        """The score modifiers without the sinks."""
        return tuple(one for one in self.scores if not isinstance(one, Sinks))

"""Edited attention on tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.attention.edited import carried_out
from eyeline.edits import Edits
from eyeline.masks import Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Scores, WeightFactor, stacked
from eyeline.torch import choose

#: Excludes the edits' lowering, which is NumPy's, from torch.compile; the call within is an operator of its own.
_uncompiled: Any = torch.compiler.disable


@_uncompiled  # type: ignore[untyped-decorator]
def edited(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edits: Edits,
    read: Readout | Sequence[Readout],
    observe: Callable[..., Observation],
    *,
    mask: Mask | None,
    scale: float | None,
    scores: Scores,
    drops: bool,
) -> Observation:
    """`eyeline.observe` on tensors with edits: gradients go to q, k, v, the parameters of scores, and the tensors `by`
    of edits; another run's weights are constants.

    Args:
        observe: the same without edits, of q, k, v with mask, scale, scores, read, and `lse`, which a call without
            gradients may give.
        drops: whether it has dropout.
    """

    def attention(
        q: Any, k: Any, v: Any, read: Readout | Sequence[Readout], *, scores: Scores, lse: Any = None, **structure: Any
    ) -> Observation:
        if lse is None:
            return observe(q, k, v, read=read, scores=scores, **structure)
        if choose.is_plain(q, k, v, stacked(scores)):
            return observe(q, k, v, read=read, scores=scores, lse=lse, **structure)
        # The operator normalises by the keys' own lse, so the share that they have in the given one is a factor.
        kept = [one for one in stacked(scores) if not isinstance(one, WeightFactor)]
        with torch.no_grad():
            own: Any = observe(q.detach(), k.detach(), v.detach()[..., :0], read=(), scores=kept, **structure).lse
            whole = torch.as_tensor(np.require(lse, requirements="W"), dtype=own.dtype, device=own.device)
            share = torch.where(own > -torch.inf, torch.exp(own - whole), 0.0)
        rows, columns = (np.ones((1, 1, x.shape[-2]), bool) for x in (q, k))
        factor = WeightFactor(share.reshape(math.prod(share.shape[:-2]), *share.shape[-2:]), rows, columns)
        return observe(q, k, v, read=read, scores=(*stacked(scores), factor), **structure)

    return carried_out(q, k, v, edits, read, attention, mask=mask, scale=scale, scores=scores, drops=drops)

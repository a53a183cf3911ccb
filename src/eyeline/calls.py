"""The two calls, `attention` and `observe`: on NumPy arrays here, on torch tensors in `eyeline.torch`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from eyeline.edits import Edits
from eyeline.masks import Mask, Shard
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Scores

Array = NDArray[Any]


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | None = None,
    edits: Edits = (),
) -> Array:
    """Scaled dot-product attention, exact, in memory that grows with N + M: softmax(q·kᵀ · scale)·v.

    A query that may look at nothing gets a row of zeros. Masked keys and values never reach the result, NaN or not. A
    row's bits depend on that row alone: not on the batch it is in, on padding after it, on the number of threads, on
    the vector width, or on the run. (Keys are processed in blocks of 128 at fixed positions, so padding before a row
    changes its last bits, unless it is a multiple of 128 keys.)

    Args:
        q: queries, (..., H, N, D) or (N, D), float16, bfloat16, float32 or float64, of any strides: NumPy arrays, or
            torch tensors, in which case the result is a differentiable tensor. 16-bit types are computed in float32.
        k: keys, (..., G, M, D), of the same type; H must be a multiple of G, and each key head serves H/G query heads
            in a row (grouped-query attention).
        v: values, (..., G, M, E), of the same type.
        mask: where a query may look at a key, for example `Causal() & Padding([37, 512])`; everywhere if not given.
        scale: the factor of q·k; 1/√D if not given.
        scores: score modifiers, applied to the scaled scores in this order, before the mask: one or several of `Alibi`,
            `RelativeBias`, `Bias`, `Softcap`, a function of your own (score, b, h, i, j) that Numba can compile, and
            last, `Sinks`.
        dropout: the share p of the weights that is dropped, 0 ≤ p < 1; the others are divided by 1 - p.
        seed: of dropout: a whole number, needed with dropout. The same seed drops the same weights.
        edits: what is changed in some heads (`eyeline.edits`), without layers; queries and keys count from 0.

    Returns:
        (..., H, N, E), of the same type, contiguous.

    Raises:
        TypeError: if q, k or v isn't an array, or mask isn't a mask.
        ValueError: if shapes, types, the mask or the scores don't fit together; it names the argument and the rule.

    Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1; computed by blocks with an online softmax
    (Milakov and Gimelshein 2018; Dao et al. 2022).

    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(x, x, x, scale=1.0).round(2)
    array([[0.73, 0.27],
           [0.27, 0.73]])
    """
    if _are_tensors(q, k, v):
        from eyeline.torch import attention as on_tensors

        tensors: Any = (q, k, v)
        result: Any = on_tensors(
            *tensors, mask=mask, scale=scale, scores=scores, dropout=dropout, seed=seed, edits=edits
        )
        return result  # type: ignore[no-any-return]
    if edits:
        from eyeline.attention.edited import edited

        options: dict[str, Any] = {"mask": mask, "scale": scale, "scores": scores, "dropout": dropout, "seed": seed}
        return edited(q, k, v, edits, **options).output
    from eyeline.attention.call import attend

    return attend(q, k, v, mask=mask, scale=scale, scores=scores, dropout=dropout, seed=seed)


def observe(
    q: Array,
    k: Array,
    v: Array,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | None = None,
    read: Readout | Sequence[Readout] = (),
    shard: Shard | None = None,
    lse: ArrayLike | None = None,
    edits: Edits = (),
) -> Observation:
    """Attention, bit for bit as `attention` computes it, and readouts of its weights, without the N × M matrix.

    Args:
        q, k, v, mask, scale, scores, dropout, seed: as for `attention`. Readouts are of the weights before dropout.
        read: the readouts, each kind at most once: `TopK`, `Entropy`, `Received`, `MeanDistance`, `OffsetMass`,
            `GroupMass`, `Pooled`, `Weights`.
        shard: where these queries and keys lie in a larger attention, if they are only a part of it; observations of
            several shards merge (`Observation.merge`).
        lse: (..., H, N), the log-sum-exp (natural log) that normalises each row's weights. Where keys are split over
            several calls, pass the lse over all keys; by default it is computed over the keys of this call.
        edits: as for `attention`; not with shard or lse. Readouts are of the edited weights; lse is the row's own.

    Returns:
        An `Observation`: the output, `lse`, and the result of each readout, `seen[Weights]` or `seen.weights`.

    Raises:
        TypeError, ValueError: as `attention`, and if `read` holds something other than readouts, or one kind twice.

    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> from eyeline import Entropy, Weights
    >>> seen = observe(x, x, x, scale=1.0, read=[Weights(queries=0), Entropy()])
    >>> seen.weights.round(2), seen.entropy.round(2)
    (array([[0.73, 0.27]]), array([0.58, 0.58]))
    >>> seen.lse.round(2)
    array([1.31, 1.31])
    """
    options: dict[str, Any] = {"mask": mask, "scale": scale, "scores": scores, "dropout": dropout, "seed": seed}
    if _are_tensors(q, k, v):
        from eyeline.torch import observe as on_tensors

        tensors: Any = (q, k, v)
        return on_tensors(*tensors, **options, read=read, shard=shard, lse=lse, edits=edits)
    from eyeline.attention.call import Call
    from eyeline.attention.edited import edited
    from eyeline.attention.observed import observed

    if edits:
        return edited(q, k, v, edits, read, **options, shard=shard, lse=lse)
    return observed(Call(q, k, v, **options, shard=shard, lse=lse), read)[0]


def _are_tensors(q: object, k: object, v: object) -> bool:
    """Whether any of the arrays is a torch tensor; torch isn't imported to find out."""
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind is not None and (isinstance(q, kind) or isinstance(k, kind) or isinstance(v, kind))

"""One layer of a trace, and its readouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.checks import check_mask, check_scale, check_shapes
from eyeline.calls import observe
from eyeline.masks import Mask
from eyeline.readouts import Readout, Weights
from eyeline.readouts.observation import Observation
from eyeline.scores import Bias, Score, Softcap
from eyeline.traces.allowed import Allowed, allowed
from eyeline.traces.errors import TraceError
from eyeline.words import worded

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """One layer of a trace.

    Attributes:
        q: float32, (H, N, D). k: (G, M, D). v: (G, M, E), or None if values were not kept.
        lse: (H, N), each row's log-sum-exp (natural logarithm); -inf where a query may look at no key.
        scale: the factor of q·k.
        allowed: where queries may look.
        softcap: the cap on the scaled scores, if the model has one (Gemma 2).
        bias: added to the capped scores, (H or 1, N or 1, M), if the model has one (T5).
        sinks: the logits of attention sinks, (H,), if there are any (GPT-OSS); lse includes them.
    """

    q: Array
    k: Array
    v: Array | None
    lse: Array
    scale: float
    allowed: Allowed
    softcap: float | None = None
    bias: Array | None = None
    sinks: Array | None = None

    def observe(
        self,
        read: Readout | Sequence[Readout],
        *,
        queries: tuple[int, int] | None = None,
        lse: Array | None = None,
    ) -> Observation:
        """Compute readouts of all heads.

        Args:
            read: the readouts.
            queries: [first, last) of the queries; all N if not given.
            lse: the log of the denominator of each row's weights, (H, n); the layer's own if not given.

        Returns:
            The readouts, with axes (H, 1, n, ...); the output has width 0.
        """
        first, last = queries or (0, self.q.shape[1])
        if lse is None and self.sinks is not None:  # otherwise the sum over the keys is the layer's denominator
            lse = self.lse[:, first:last]
        return self._observed(read, first, last, lse)

    def first_observed(self, read: Readout | Sequence[Readout]) -> Observation:
        """Compute readouts of all heads and queries before lse is known: the observation has it."""
        return self._observed(read, 0, self.q.shape[1], None)

    def output_of(self, heads: Sequence[int], queries: tuple[int, int] | None = None) -> Array:
        """The outputs of some query heads, before W_o, of all queries or of [first, last): float32, (heads, n, E)."""
        assert self.v is not None
        first, last = queries or (0, self.q.shape[1])
        some = list(heads)
        groups = np.array(some, np.int64) // (len(self.q) // len(self.k))
        seen = observe(
            self.q[some][:, None, first:last],
            self.k[groups][:, None],
            self.v[groups][:, None],
            mask=self.allowed.over_heads(first, None if (first, last) == (0, self.q.shape[1]) else last),
            scale=self.scale,
        )
        return np.asarray(seen.output[:, 0])

    def _observed(self, read: Readout | Sequence[Readout], first: int, last: int, lse: Array | None) -> Observation:
        # Heads are batch elements, since intervals can differ by batch element but not by head.
        H, N, _ = self.q.shape
        groups = np.arange(H) // (H // len(self.k))
        scores: list[Score] = [] if self.softcap is None else [Softcap(self.softcap)]
        if self.bias is not None:
            scores.append(Bias(self.bias[:, None] if self.bias.shape[1] == 1 else self.bias[:, None, first:last]))
        return observe(
            self.q[:, None, first:last],
            self.k[groups][:, None],
            np.zeros((H, 1, self.k.shape[1], 0), np.float32),
            mask=self.allowed.over_heads(first, None if (first, last) == (0, N) else last),
            scale=self.scale,
            scores=scores,
            read=read,
            lse=None if lse is None else lse[:, None],
        )

    def scores(self, head: int, queries: NDArray[np.int64], keys: tuple[int, int]) -> list[Score]:
        """The modifications of one head's scaled scores, for some queries and the keys [first, last)."""
        found: list[Score] = [] if self.softcap is None else [Softcap(self.softcap)]
        if self.bias is not None:
            bias = self.bias[head if len(self.bias) > 1 else 0]
            found.append(Bias((bias if len(bias) == 1 else bias[queries])[:, slice(*keys)]))
        return found

    @property
    def weights(self) -> Array:
        """All weights of all heads, float32, (H, N, M): for short texts."""
        seen = self.observe(Weights())
        return np.asarray(seen.weights[:, 0])


@dataclass(frozen=True, eq=False)
class LayerArrays:
    """The inputs of a layer's attention, for a layer that was run elsewhere.

    Attributes:
        q, k, v: float32, (H, N, D), (G, M, D) and (G, M, E); v is None if values aren't kept.
        allowed: where queries may look.
        scale: the factor of q·k.
        softcap, bias: as in `LayerTrace`.
        sinks: the logits of attention sinks, (H,), if the model has any.
        lse: (H, N), including sinks, if known.
    """

    q: Array
    k: Array
    v: Array | None
    allowed: Allowed
    scale: float
    softcap: float | None = None
    bias: Array | None = None
    sinks: Array | None = None
    lse: Array | None = None

    def observed(self, read: Sequence[Readout]) -> tuple[LayerTrace, Observation | None]:
        """The trace's layer, and its readouts with axes (H, 1, N, ...); None if none were requested."""
        lse = np.zeros(self.q.shape[:2], np.float32) if self.lse is None else self.lse
        layer = LayerTrace(self.q, self.k, self.v, lse, self.scale, self.allowed, self.softcap, self.bias, self.sinks)
        if self.lse is not None:
            return layer, layer.observe(read) if read else None
        seen = layer.first_observed(read)
        return replace(layer, lse=seen.lse[:, 0]), seen


def layers_of(
    q: ArrayLike, k: ArrayLike, v: ArrayLike | None, mask: Mask | None, scale: float | None
) -> list[LayerArrays]:
    """Make layers from a user's arrays; see `Trace.of`."""
    arrays = {"q": checked("q", q), "k": checked("k", k)} | ({} if v is None else {"v": checked("v", v)})
    values = arrays.get("v")
    try:
        check_shapes(arrays["q"].shape, arrays["k"].shape, (arrays["k"][..., :0] if values is None else values).shape)
    except ValueError as error:
        raise TraceError(str(error)) from None
    L, H, N, D = arrays["q"].shape
    seen_by = allowed(check_mask(mask), H, N, arrays["k"].shape[2])
    by = D**-0.5 if scale is None else check_scale(scale, np.dtype(np.float32))
    return [
        LayerArrays(arrays["q"][layer], arrays["k"][layer], None if values is None else values[layer], seen_by, by)
        for layer in range(L)
    ]


def checked(name: str, given: ArrayLike, where: str = "") -> Array:
    """Convert to a finite float32 array, (layers, heads, tokens, width), without an empty axis."""
    try:
        array: NDArray[Any] = np.asarray(given)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if not (np.issubdtype(array.dtype, np.floating) or array.dtype.name == "bfloat16"):
        raise TraceError(f"{name}{where} must be an array of floating-point numbers, got {array.dtype}")
    if array.ndim != 4 or not array.size:
        raise TraceError(
            f"{name}{where} must be (layers, heads, tokens, width), at least one of each, got shape {array.shape}; "
            f"{name}[None] is one layer"
        )
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, np.float32)
    if not np.isfinite(array).all():
        place = tuple(int(axis) for axis in np.argwhere(~np.isfinite(array))[0])
        raise TraceError(
            f"{name}{where} must be finite in float32, got {array[place]} at {place}; set what is masked out to 0"
        )
    return array


def check_plain(layers: Sequence[LayerTrace], model: str, what: str) -> None:
    """
    Raises:
        TraceError: if the scores of a model's layers are more than scaled products, or sinks take a share of the
            weight, so that its trace can't be `what`.
    """
    if any(layer.softcap is not None or layer.bias is not None for layer in layers):
        raise TraceError(
            worded(
                "scores must be q·k alone for a trace to be {what}, got {model}, which caps them or adds biases",
                what=what,
                model=model,
            )
        )
    if any(layer.sinks is not None for layer in layers):
        raise TraceError(
            worded(
                "weights must sum to 1 for a trace to be {what}, got {model}, whose attention sinks take a share",
                what=what,
                model=model,
            )
        )

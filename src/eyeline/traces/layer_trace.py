"""One layer of a trace, and its readouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.checks import check_mask, check_scale, check_shapes
from eyeline.calls import observe
from eyeline.edits import CallEdits, EditError, HeadsOfRun
from eyeline.edits.call_parts import heads_as_batch, of_rows, of_weights, with_row_factor
from eyeline.edits.structure import changed_mask, changed_scores
from eyeline.masks import AttentionShape, Mask
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
        edits: what was changed in its heads after the softmax, if anything: q, k and v are as patched, `allowed` is
            without the pairs that were cut (but for keys that are too scattered for a mask), and lse is the rows' own.
            Readouts are of the edited weights.
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
    edits: CallEdits | None = None

    def observe(
        self,
        read: Readout | Sequence[Readout],
        *,
        queries: tuple[int, int] | None = None,
        factor: Array | None = None,
    ) -> Observation:
        """Compute readouts of all heads.

        Args:
            read: the readouts.
            queries: [first, last) of the queries; all N if not given.
            factor: what each row's weights are multiplied by, (n,), 0 or more; 1 if not given.

        Returns:
            The readouts, with axes (H, 1, n, ...); the output has width 0.
        """
        first, last = queries or (0, self.q.shape[1])
        lse, edits = None, self.edits
        if self.sinks is not None or factor is not None:  # otherwise the sum over the keys is the layer's denominator
            lse = self.lse[:, first:last]
        if factor is not None:
            with np.errstate(divide="ignore"):
                less = np.log(factor)
            lse = lse - less
            edits = None if edits is None else with_row_factor(edits, first, less)
        return self._observed(read, range(len(self.q)), first, last, lse, edits)

    def first_observed(self, read: Readout | Sequence[Readout]) -> Observation:
        """Compute readouts of all heads and queries before lse is known: the observation has it."""
        return self._observed(read, range(len(self.q)), 0, self.q.shape[1], None, self.edits)

    def of_heads(self, heads: Sequence[int]) -> HeadsOfRun:
        """Some query heads, for edits of other runs.

        Raises:
            EditError: if a head's weights were themselves edited so that q, k and lse don't give them.
        """
        some = list(heads)
        own = None if self.edits is None else heads_as_batch(self.edits, some)
        if own is not None and (own.frozen or own.weightings):
            raise EditError(
                worded(
                    "other must be a run whose heads {heads} have weights of their own, got one in which some were "
                    "taken from another run or multiplied; record it without these edits",
                    heads=", ".join(map(str, some)),
                )
            )
        groups = np.array(some, np.int64) // (len(self.q) // len(self.k))
        scores: Any = self._scores(some, slice(None))
        mask = self.allowed.of_heads(some).over_heads()
        if own is not None:
            shape = AttentionShape((len(some),), 1, self.q.shape[1], self.k.shape[1])
            scores, mask = changed_scores(scores, replace(own, cuts=()), shape), changed_mask(mask, own)
        return HeadsOfRun(
            self.q[some],
            self.k[groups],
            None if self.v is None else self.v[groups],
            self.lse[some],
            self.scale,
            tuple(scores),
            mask,
        )

    def output_of(self, heads: Sequence[int], queries: tuple[int, int] | None = None) -> Array:
        """The outputs of some query heads, before W_o, for the queries [first, last) or all: float32, (heads, n, E).

        Raises:
            EditError: if values weren't kept.
        """
        if self.v is None:
            raise EditError(worded("other must have kept its values, got a run without; record it with values=True"))
        first, last = queries or (0, self.q.shape[1])
        lse = None if self.sinks is None else self.lse[:, first:last]
        seen = self._observed((), heads, first, last, lse, self.edits, values=True)
        return np.asarray(seen.output[:, 0])

    def _observed(
        self,
        read: Readout | Sequence[Readout],
        heads: Sequence[int],
        first: int,
        last: int,
        lse: Array | None,
        edits: CallEdits | None,
        values: bool = False,
    ) -> Observation:
        # Heads are batch elements, since intervals can differ by batch element but not by head.
        some, N = list(heads), self.q.shape[1]
        groups = np.array(some, np.int64) // (len(self.q) // len(self.k))
        v = self.v[groups][:, None] if values and self.v is not None else None
        if edits is not None and v is None:
            edits = of_weights(edits)
        own = None if edits is None else of_rows(heads_as_batch(edits, some), slice(first, last), slice(None))
        return observe(
            self.q[:, first:last][some][:, None],
            self.k[groups][:, None],
            np.zeros((len(some), 1, self.k.shape[1], 0), np.float32) if v is None else v,
            mask=self.allowed.of_heads(some).over_heads(first, None if (first, last) == (0, N) else last),
            scale=self.scale,
            scores=self._scores(some, slice(first, last)),
            read=read,
            lse=None if lse is None else lse[some][:, None],
            edits=own or (),
        )

    def _scores(self, heads: list[int], queries: slice) -> list[Score]:
        """The modifications of some heads' scaled scores, each head an element of the batch, for some queries."""
        found: list[Score] = [] if self.softcap is None else [Softcap(self.softcap)]
        if self.bias is not None:
            bias = (self.bias if len(self.bias) == 1 else self.bias[heads])[:, None]
            found.append(Bias(bias if bias.shape[2] == 1 else bias[:, :, queries]))
        return found

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
        softcap, bias, edits: as in `LayerTrace`.
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
    edits: CallEdits | None = None

    def observed(self, read: Sequence[Readout]) -> tuple[LayerTrace, Observation | None]:
        """The trace's layer, and its readouts with axes (H, 1, N, ...); None if none were requested."""
        lse = np.zeros(self.q.shape[:2], np.float32) if self.lse is None else self.lse
        changes = (self.softcap, self.bias, self.sinks, self.edits)
        layer = LayerTrace(self.q, self.k, self.v, lse, self.scale, self.allowed, *changes)
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
        raise TraceError(
            worded(
                "{name}{where} must be an array of floating-point numbers, got {dtype}",
                name=name,
                where=where,
                dtype=array.dtype,
            )
        )
    if array.ndim != 4 or not array.size:
        raise TraceError(
            worded(
                "{name}{where} must be (layers, heads, tokens, width), at least one of each, got shape "
                "{shape}; {name}[None] is one layer",
                name=name,
                where=where,
                shape=array.shape,
            )
        )
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, np.float32)
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise TraceError(
            worded(
                "{name}{where} must be finite in float32, got {array} at {place}; set what is masked out to 0",
                name=name,
                where=where,
                array=array[place],
                place=place,
            )
        )
    return array


def check_plain(layers: Sequence[LayerTrace], model: str, what: str) -> None:
    """Raise a `TraceError` if scores are more than scaled products, or sinks take a share, so that a trace can't be
    `what`."""
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

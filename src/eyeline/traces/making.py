"""A trace of a user's own arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.checks import check_mask, check_scale, check_shapes
from eyeline.masks import Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.traces.allowed import Allowed, allowed
from eyeline.traces.errors import TraceError
from eyeline.traces.keep import Keep
from eyeline.traces.measures import asked, measures
from eyeline.traces.tokenized_text import TokenizedText, of_words
from eyeline.traces.trace import Kind, LayerTrace, Sizes, Trace

Array = NDArray[np.float32]


def of_arrays(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike | None,
    mask: Mask | None,
    scale: float | None,
    queries: Sequence[str],
    keys: Sequence[str] | None,
    name: str,
    model: str,
) -> Trace:
    """What `Trace.of` gives."""
    arrays = {"q": checked("q", q), "k": checked("k", k)} | ({} if v is None else {"v": checked("v", v)})
    value = arrays.get("v", arrays["k"][..., :0])
    try:
        check_shapes(arrays["q"].shape, arrays["k"].shape, value.shape)
    except ValueError as error:
        raise TraceError(str(error)) from None
    lines = of_words(queries), None if keys is None else of_words(keys, "keys")
    for what, line, count in (("queries", lines[0], "q"), ("keys", lines[1] or lines[0], "k")):
        if len(line) != arrays[count].shape[2]:
            raise TraceError(
                f"{what} must be {arrays[count].shape[2]} words, one for each token of {count}, got {len(line)}"
                + ("; give keys= too, where they are another line" if what == "keys" and keys is None else "")
            )
    for label, text in (("name", name), ("model", model)):
        if not isinstance(text, str):
            raise TraceError(f"{label} must be a string, got {type(text).__name__}")
    L, H, N, D = arrays["q"].shape
    values = arrays.get("v")
    seen_by = allowed(check_mask(mask), H, N, arrays["k"].shape[2])
    by = D**-0.5 if scale is None else check_scale(scale, np.dtype(np.float32))
    return traced(
        [
            LayerArrays(arrays["q"][layer], arrays["k"][layer], None if values is None else values[layer], seen_by, by)
            for layer in range(L)
        ],
        *lines,
        name=name,
        model=model,
    )


@dataclass(frozen=True)
class LayerArrays:
    """What a layer that was run elsewhere computed its weights from.

    Attributes:
        q, k, v: float32, (H, N, D), (G, M, D) and (G, M, E); v is None if values aren't kept.
        allowed: where queries may look.
        scale: what q·k is multiplied by.
        softcap, bias: as in `LayerTrace`.
        sinks: the logits of attention sinks, (H,), if the model has any.
        lse: (H, N), sinks included, if it is known.
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
        """The layer as a trace keeps it, and what was read of it, with axes (H, 1, N, ...); None if nothing was."""
        lse = np.zeros(self.q.shape[:2], np.float32) if self.lse is None else self.lse
        layer = LayerTrace(self.q, self.k, self.v, lse, self.scale, self.allowed, self.softcap, self.bias, self.sinks)
        if self.lse is not None:
            return layer, layer.observe(read) if read else None
        seen = layer.first_observed(read)
        return replace(layer, lse=seen.lse[:, 0]), seen


def traced(
    layers: Sequence[LayerArrays],
    queries: TokenizedText,
    keys: TokenizedText | None,
    *,
    name: str,
    model: str,
    kind: Kind | None = None,
    keep: Keep | None = None,
    positions: int | None = None,
    vectors: Array | None = None,
) -> Trace:
    """The trace of layers that were run elsewhere.

    Args:
        layers: each layer's arrays.
        queries, keys, name, model, kind: as in `Trace`; the kind is that of the masks if not given.
        keep: what is read of each layer; the numbers of `Trace.measures` if not given.
        positions: the most tokens that the model takes, if that is known.
        vectors: the vectors of the tokens `keep.vectors`.
    """
    keep = Keep(measures=True) if keep is None else keep
    measured = asked(queries, keys) if keep.measures else []
    # Two readouts of one kind can't be asked for at once: what `keep` asks for is read by itself.
    kept, seen, read = [], [], []
    for arrays in layers:
        layer, found = arrays.observed(measured or keep.read)
        kept.append(layer)
        if measured and found is not None:
            seen.append(found)
        if keep.read:
            read.append(layer.observe(keep.read) if measured or found is None else found)
    (H, _, D), (G, _, _) = layers[0].q.shape, layers[0].k.shape
    E = 0 if layers[0].v is None else layers[0].v.shape[2]
    if kind is None:
        causal = all(arrays.allowed.kind == "causal" for arrays in layers)
        kind = "cross" if keys is not None else "decoder" if causal else "encoder"
    return Trace(
        name,
        Sizes(model, len(layers), H, G, D, E, positions),
        kind,
        queries,
        keys,
        tuple(kept),
        measures(seen) if measured else None,
        vectors,
        () if vectors is None else tuple(keep.positions(len(queries)) or ()),
        tuple(read),
    )


def checked(name: str, given: ArrayLike, where: str = "") -> Array:
    """An array of finite float32 numbers, (layers, heads, tokens, width), none of them 0."""
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

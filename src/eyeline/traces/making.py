"""A trace of a user's own arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.checks import check_mask, check_scale, check_shapes
from eyeline.calls import observe
from eyeline.masks import Mask
from eyeline.readouts.observation import Observation
from eyeline.traces.allowed import Allowed, allowed
from eyeline.traces.errors import TraceError
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
    return traced(
        [(arrays["q"][layer], arrays["k"][layer], arrays["v"][layer] if v is not None else None) for layer in range(L)],
        [allowed(check_mask(mask), H, N, arrays["k"].shape[2])] * L,
        [D**-0.5 if scale is None else check_scale(scale, np.dtype(np.float32))] * L,
        *lines,
        name=name,
        model=model,
    )


def traced(
    layers: Sequence[tuple[Array, Array, Array | None]],
    seen_by: Sequence[Allowed],
    scales: Sequence[float],
    queries: TokenizedText,
    keys: TokenizedText | None,
    *,
    name: str,
    model: str,
    kind: Kind | None = None,
) -> Trace:
    """The trace of layers that were run elsewhere.

    Args:
        layers: q (H, N, D), k (G, M, D) and v (G, M, E), or None, of each.
        seen_by: where queries may look in each.
        scales: of each.
        queries, keys, name, model, kind: as in `Trace`; the kind is that of the masks if not given.
    """
    read = asked(queries, keys)
    kept: list[LayerTrace] = []
    seen: list[Observation] = []
    for (q, k, v), looks, scale in zip(layers, seen_by, scales, strict=True):
        # Heads stand as batch elements, since intervals that differ by head can be said so alone.
        groups = np.arange(len(q)) // (len(q) // len(k))
        values = np.zeros((len(q), 1, k.shape[1], 0), np.float32)
        found = observe(q[:, None], k[groups][:, None], values, mask=looks.over_heads(), scale=scale, read=read)
        kept.append(LayerTrace(q, k, v, found.lse[:, 0], scale, looks))
        seen.append(found)
    (H, _, D), (G, _, _) = layers[0][0].shape, layers[0][1].shape
    E = 0 if layers[0][2] is None else layers[0][2].shape[2]
    if kind is None:
        causal = all(looks.kind == "causal" for looks in seen_by)
        kind = "cross" if keys is not None else "decoder" if causal else "encoder"
    return Trace(name, Sizes(model, len(layers), H, G, D, E), kind, queries, keys, tuple(kept), measures(seen))


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

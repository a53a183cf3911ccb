"""The layers of a trace in its file: their arrays by name, and one metadata entry per layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from eyeline.traces.allowed import Allowed
from eyeline.traces.errors import TraceError
from eyeline.traces.layer_trace import LayerTrace
from eyeline.traces.safetensors_file import StoredArrays
from eyeline.traces.settings import StoredSettings
from eyeline.words import worded

Array = NDArray[Any]


def stored_layers(layers: Sequence[LayerTrace]) -> tuple[dict[str, Array], list[dict[str, Any]]]:
    """The arrays of layers and their metadata entries; a mask that several layers share is stored once."""
    arrays: dict[str, Array] = {}
    masks: dict[int, str] = {}
    entries: list[dict[str, Any]] = []
    for number, layer in enumerate(layers):
        named = {"q": layer.q, "k": layer.k, "v": layer.v, "lse": layer.lse}
        arrays |= {f"layers.{number}.{part}": array for part, array in named.items() if array is not None}
        array = layer.allowed.array
        if array is not None and id(array) not in masks:
            masks[id(array)] = f"masks.{len(masks)}"
            arrays[masks[id(array)]] = array
        entry = {"scale": layer.scale, "mask": layer.allowed.kind}
        entries.append(entry if array is None else entry | {"mask_array": masks[id(array)]})
    return arrays, entries


def opened_layer(
    tensors: StoredArrays,
    entry: StoredSettings,
    number: int,
    heads: tuple[int, int],
    tokens: tuple[int, int],
    widths: tuple[int, int],
) -> LayerTrace:
    """Load a layer from a file, and check it.

    Args:
        tensors, entry: the file's arrays, and the layer's metadata entry.
        number: the layer's number, from 0.
        heads: (H, G). tokens: (N, M). widths: (D, E), where E is 0 if values weren't kept.
    """
    name, (H, G), (N, M), (D, E) = f"layers.{number}", heads, tokens, widths
    return LayerTrace(
        tensors.array(f"{name}.q", "F32", (H, N, D)),
        tensors.array(f"{name}.k", "F32", (G, M, D)),
        tensors.array(f"{name}.v", "F32", (G, M, E)) if E else None,
        tensors.array(f"{name}.lse", "F32", (H, N)),
        entry.number("scale"),
        _allowed(tensors, entry, H, N, M),
    )


def _allowed(tensors: StoredArrays, layer: StoredSettings, H: int, N: int, M: int) -> Allowed:
    """The mask of a stored layer."""
    kind = layer.one_of("mask", "all", "causal", "bounds", "bits")
    if kind == "causal" and N != M:
        layer.wrong("mask", worded("another where queries and keys differ in number"))
    if kind in ("all", "causal"):
        return Allowed(kind)
    name = layer.text("mask_array")
    found = tensors.shape(name)
    heads = found[0] if found[:1] == (1,) else H
    if kind == "bits":
        bits = tensors.array(name, "U8", (heads, N, M))
        if bits.max(initial=0) > 1:
            raise TraceError(
                worded(
                    "{path}: {name} must be 0 and 1 alone, got {max}; save the trace again",
                    path=tensors.path,
                    name=name,
                    max=bits.max(),
                )
            )
        return Allowed("bits", bits)
    rows, count = (found[1] if found[1:2] == (1,) else N), (found[2] if len(found) == 4 else 1)
    return Allowed("bounds", tensors.array(name, "I32", (heads, rows, count, 2)))

"""The layers' inputs of a trace in its file, and the matrices of the heads that it is to have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.projections import HeadMatrices
from eyeline.traces.inputs import KeptInputs, LayerInput
from eyeline.traces.safetensors_file import StoredArrays
from eyeline.traces.settings import StoredSettings
from eyeline.words import worded

Array = NDArray[Any]

#: The arrays of a head's matrices that not every model has.
_OPTIONAL = ("b_q", "b_k", "b_v", "b_o", "rotary", "q_norm", "k_norm")


def stored_inputs(kept: KeptInputs | None, states: Array | None) -> tuple[dict[str, Array], dict[str, Any] | None]:
    """The arrays of the inputs, and their metadata entry; nothing and None if they weren't kept.

    Args:
        kept: the inputs.
        states: all tokens' vectors before each layer and after the last, (L + 1, N, width), if the file has them: a
            residual that is the same isn't stored again.
    """
    if kept is None:
        return {}, None
    arrays: dict[str, Array] = {}
    known = states is not None and all(
        np.array_equal(state, layer.residual) for state, layer in zip(states, kept.layers, strict=False)
    )
    for number, layer in enumerate(kept.layers):
        named = {name: array for name, array in vars(layer).items() if array is not None}
        if layer.residual is layer.x:
            del named["residual" if not known else "x"]
        if known:
            del named["residual"]
        arrays |= {f"inputs.{number}.{name}": _plain(array) for name, array in named.items()}
    for name, array in (("words", kept.words), ("positions", kept.positions)):
        if array is not None:
            arrays[f"inputs.{name}"] = _plain(array)
    for (layer_number, head), matrices in kept.stored.items():
        for name, value in vars(matrices).items():
            if isinstance(value, np.ndarray):
                arrays[f"matrices.L{layer_number}H{head}.{name}"] = _plain(value)
    first = next(iter(kept.stored.values()), None)
    return arrays, {
        "width": kept.layers[0].x.shape[1],
        "embedding_width": 0 if kept.words is None else kept.words.shape[1],
        "of_vectors": known,
        "norm_before": kept.norm_before,
        "norm_after": kept.norm_after,
        "norm_embedded": kept.norm_embedded,
        "heads": [list(place) for place in kept.stored],
        "epsilon": 0.0 if first is None else first.epsilon,
    }


def opened_inputs(
    tensors: StoredArrays,
    entry: StoredSettings,
    heads: tuple[int, int],
    tokens: tuple[int, int],
    widths: tuple[int, int],
    states: Array | None,
) -> KeptInputs:
    """Load the inputs from a file, and check them.

    Args:
        tensors, entry: the file's arrays, and the inputs' metadata entry.
        heads: (L, H). tokens: (N, M). widths: (D, E).
        states: all tokens' vectors before each layer and after the last, if the file has them.
    """
    (L, H), (N, M), (D, E) = heads, tokens, widths
    width, narrow, epsilon = entry.whole("width", 1), entry.whole("embedding_width", 0), entry.number("epsilon")

    of_vectors = entry.get("of_vectors") is True
    if of_vectors and (states is None or states.shape[2] != width):
        entry.wrong("of_vectors", worded("false where the file doesn't have all tokens' vectors of this width"))

    def layer(number: int) -> LayerInput:
        name = f"inputs.{number}"
        known = None if states is None or not of_vectors else states[number]
        x = known if known is not None and not tensors.shape(f"{name}.x") else tensors.finite(f"{name}.x", (N, width))
        residual = tensors.finite(f"{name}.residual", (N, width)) if tensors.shape(f"{name}.residual") else known
        residual = x if residual is None else residual
        keys = tensors.finite(f"{name}.keys", (M, width)) if tensors.shape(f"{name}.keys") else None
        added, lengths = tensors.finite(f"{name}.added", (N, width)), tensors.finite(f"{name}.lengths", (H, N))
        return LayerInput(x, residual, added, lengths, keys)

    def matrices(layer: int, head: int) -> HeadMatrices:
        name = f"matrices.L{layer}H{head}"
        shapes = {"W_q": (D, width), "W_k": (D, width), "W_v": (E, width), "W_o": (width, E)}
        sizes = {"b_q": D, "b_k": D, "b_v": E, "b_o": width, "rotary": D // 2, "q_norm": D, "k_norm": D}
        there: dict[str, Any] = {one: tensors.finite(f"{name}.{one}", shape) for one, shape in shapes.items()}
        for one in _OPTIONAL:
            there[one] = tensors.finite(f"{name}.{one}", (sizes[one],)) if tensors.shape(f"{name}.{one}") else None
        return HeadMatrices(**there, epsilon=epsilon)

    places = entry.items("heads")
    if not all(_is_place(place, L, H) for place in places):
        entry.wrong("heads", worded("pairs of a layer below {layers} and a head below {heads}", layers=L, heads=H))
    words, positions = (
        tensors.finite(f"inputs.{name}", (N, narrow)) if narrow and tensors.shape(f"inputs.{name}") else None
        for name in ("words", "positions")
    )
    return KeptInputs(
        tuple(layer(number) for number in range(L)),
        None,
        {(one, other): matrices(one, other) for one, other in places},
        _name(entry, "norm_before"),
        _name(entry, "norm_after"),
        words,
        positions,
        _name(entry, "norm_embedded"),
    )


def _plain(array: Array) -> Array:
    return np.ascontiguousarray(array, np.float32)


def _name(entry: StoredSettings, setting: str) -> str | None:
    return None if entry.get(setting) is None else entry.text(setting)


def _is_place(value: object, layers: int, heads: int) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    whole = all(isinstance(part, int) and not isinstance(part, bool) for part in value)
    return bool(whole and 0 <= value[0] < layers and 0 <= value[1] < heads)

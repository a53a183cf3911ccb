"""What a trace of a transformers model keeps of its layers' inputs, where the model's projections can be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eyeline.models.projections import HeadMatrices
from eyeline.traces.inputs import Array, KeptInputs, LayerInput, Place

if TYPE_CHECKING:
    from torch import nn

    from eyeline.huggingface.recording import RecordedCall

#: How far W·x + b may be from the recorded queries, as a share of the largest number, in any type that models have.
_ROUNDING = 2e-2


def inputs_of(calls: Sequence[RecordedCall], heads: Sequence[Place]) -> KeptInputs | None:
    """The inputs of some layers' attention; None where the projections, or what they are added to, aren't known."""
    found = [_matrices(call) for call in calls]
    layers = []
    for call, matrices in zip(calls, found, strict=True):
        made, residual = call.projected, call.state_before
        if made is None or matrices is None or residual is None or residual.shape != made.added.shape:
            return None
        same = residual.shape == made.x.shape and np.array_equal(residual, made.x)
        outputs = np.split(made.joined, len(matrices), axis=1)
        parts = [np.linalg.norm(of @ one.W_o.T, axis=-1) for of, one in zip(outputs, matrices, strict=True)]
        lengths = np.stack(parts).astype(np.float32)
        keys = None if np.array_equal(made.keys_x, made.x) else made.keys_x
        layers.append(LayerInput(made.x, made.x if same else residual, made.added, lengths, keys))

    def find(layer: int, head: int) -> HeadMatrices:
        return found[layer][head]  # type: ignore[index]  # None was returned above

    first = calls[0].projected
    assert first is not None
    same = layers[0].residual is layers[0].x
    return KeptInputs(
        tuple(layers),
        find,
        {place: find(*place) for place in heads if place[0] < len(layers) and place[1] < len(calls[0].q)},
        None if same else first.norm_before,
        first.norm_after if same else None,
    )


def _matrices(call: RecordedCall) -> list[HeadMatrices] | None:
    """Every head's matrices; None if q isn't what they make of x, with any norm and turn that Eyeline knows."""
    made = call.projected
    if made is None:
        return None
    H, G = len(call.q), len(call.k)
    query, key, value = (_split(layer, count) for layer, count in ((made.query, H), (made.key, G), (made.value, G)))
    W_o = np.split(_plain(made.output.weight), H, axis=1)
    b_o = None if made.output.bias is None else _plain(made.output.bias)
    q_norm = None if made.norms is None else made.norms[0]
    k_norm = None if made.norms is None else made.norms[1]
    epsilon: Any = getattr(q_norm, "variance_epsilon", getattr(q_norm, "eps", 0.0))
    for speeds in (None, made.speeds) if made.speeds is not None else (None,):
        heads = [
            HeadMatrices(
                *query[head],
                *key[head // (H // G)],
                *value[head // (H // G)],
                np.ascontiguousarray(W_o[head]),
                b_o,
                speeds,
                None if q_norm is None else _plain(q_norm.weight),
                None if k_norm is None else _plain(k_norm.weight),
                float(epsilon or 0),
            )
            for head in range(H)
        ]
        if _makes(heads[0], call):
            return heads
    return None


def _makes(head: HeadMatrices, call: RecordedCall) -> bool:
    """Whether the first head's queries and keys are its projections of what went in."""
    made = call.projected
    assert made is not None
    if call.q.shape[1] != len(made.x) or (head.rotary is not None and 2 * len(head.rotary) != call.q.shape[2]):
        return False
    pairs = (
        (head.query(made.x, np.arange(len(made.x))), call.q[0]),
        (head.key(made.keys_x, np.arange(len(made.keys_x))), call.k[0]),
    )
    return all(
        ours.shape == theirs.shape and np.abs(ours - theirs).max() <= _ROUNDING * np.abs(theirs).max()
        for ours, theirs in pairs
    )


def _split(layer: nn.Linear, heads: int) -> list[tuple[Array, Array | None]]:
    """A linear layer's matrix and bias for each head."""
    biases = [None] * heads if layer.bias is None else np.split(_plain(layer.bias), heads)
    return list(zip(np.split(_plain(layer.weight), heads), biases, strict=True))


def _plain(weights: Any) -> Array:
    array: Array = weights.detach().float().cpu().numpy()
    return array

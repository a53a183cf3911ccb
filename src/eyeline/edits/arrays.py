"""Rows put into arrays, outputs multiplied, and what that takes: for NumPy and torch alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.lowered import NewRows, OutputFactor
from eyeline.masks import namespace


def changed_inputs(new: Sequence[NewRows], q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
    """q (B, H, N, D), k and v (B, G, M, ·) with rows put into them; k and v get a head for each query head if a change
    is of one query head alone."""
    arrays = {"q": q, "k": k, "v": v}
    H, G = q.shape[1], k.shape[1]
    for one in new:
        if one.of_groups:
            arrays[one.name] = with_rows(arrays[one.name], one)
    if G != H and any(one.name != "q" and not one.of_groups for one in new):
        xp = namespace(q)
        repeat = xp.repeat if xp is np else xp.repeat_interleave
        arrays |= {name: repeat(arrays[name], H // G, 1) for name in ("k", "v")}
    for one in new:
        if not one.of_groups:
            arrays[one.name] = with_rows(arrays[one.name], one)
    return arrays["q"], arrays["k"], arrays["v"]


def with_rows(x: Any, new: NewRows) -> Any:
    """A copy of x, (B, H, N, width), with rows put into it."""
    changed = copied(x)
    rows = like(x, new.rows)
    for b in range(len(x)) if new.batch is None else (new.batch,):
        taken = new.taken[min(b, len(new.taken) - 1)]
        to = np.flatnonzero(taken >= 0)
        for number, head in enumerate(new.heads):
            changed[b, head, to] = rows[number][taken[to]]
    return changed


def gated(output: Any, gates: Sequence[OutputFactor]) -> Any:
    """A copy of the output, (B, H, N, E), multiplied; other heads keep their bits."""
    if not gates:
        return output
    if not isinstance(output, np.ndarray):
        return output * _factors(output, gates)
    changed = output.copy()
    for gate in gates:
        for b in range(len(output)) if gate.batch is None else (gate.batch,):
            changed[b, list(gate.heads)] *= _factor(output, gate, b)[:, None]
    return changed


def _factors(output: Any, gates: Sequence[OutputFactor]) -> Any:
    """The factors of a tensor's rows, (B or 1, H, N or 1, 1): made without writing into one, which `vmap` can't do."""
    apart = any(gate.batch is not None or (gate.taken is not None and len(gate.taken) > 1) for gate in gates)
    B, H, count = len(output) if apart else 1, output.shape[1], output.shape[2]
    rows = [output.new_ones(count)] * (B * H)
    for gate in gates:
        for b in range(B) if gate.batch is None else (gate.batch,):
            factor = _factor(output, gate, b)
            for head in gate.heads:
                rows[b * H + head] = rows[b * H + head] * factor
    return namespace(output).stack(rows).reshape(B, H, count, 1) if rows else 1.0


def _factor(output: Any, gate: OutputFactor, b: int) -> Any:
    """A gate's factor in one element of the batch, (N,) or (1,)."""
    by = like(output, gate.by).reshape(-1)
    if gate.taken is None:
        return by
    taken = gate.taken[min(b, len(gate.taken) - 1)]
    return namespace(output).where(like(output, taken >= 0), by[np.maximum(taken, 0)], 1.0)


def copied(x: Any) -> Any:
    """A copy; of a tensor, one that gradients go through."""
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def like(x: Any, given: Any) -> Any:
    """`given` as an array or tensor of x's type; booleans stay so."""
    if isinstance(x, np.ndarray):
        array: NDArray[Any] = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
        return array if array.dtype == bool else array.astype(x.dtype)
    if isinstance(given, np.ndarray):
        given = np.require(given, requirements="W")  # PyTorch warns of arrays that it may not write
    torch = namespace(x)
    tensor = torch.as_tensor(given, device=x.device)
    return tensor if tensor.dtype == torch.bool else tensor.to(x.dtype)


def cast(x: Any, to: Any) -> Any:
    """x in the type of `to`."""
    return x.astype(to.dtype, copy=False) if isinstance(x, np.ndarray) else x.to(to.dtype)


def computed(x: Any) -> Any:
    """x in the type in which attention is computed: 16-bit types become float32."""
    if x.dtype.itemsize >= 4:
        return x
    return x.astype(np.float32) if isinstance(x, np.ndarray) else x.float()


def chosen(flags: NDArray[np.bool_], x: Any, y: Any) -> Any:
    """x where the flags are true, else y; x may be a number."""
    return np.where(flags, x, y) if isinstance(y, np.ndarray) else namespace(y).where(like(y, flags), x, y)

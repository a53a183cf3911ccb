"""The linear layers around an attention module: those that make q, k and v of its input, and the one after the heads.

They are found by the names that transformers gives them; a model that has others, or one layer for all three, has none.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Array = NDArray[np.float32]

_NAMES = (("q_proj", "k_proj", "v_proj"), ("query", "key", "value"), ("q_lin", "k_lin", "v_lin"))
_OUTPUTS = ("o_proj", "out_proj", "out_lin")
_NORMS_BEFORE = ("input_layernorm", "layernorm_before", "layer_norm1", "norm1", "self_attn_layer_norm")


@dataclass(frozen=True, eq=False)
class Projected:
    """What went through the projections of one call.

    Attributes:
        x, keys_x: the inputs of queries and of keys, (N, width) and (M, width).
        joined: the heads' outputs, joined, (N, H·E).
        added: what the last layer makes of these, (N, width).
        query, key, value, output: the linear layers.
        norms: the norms of queries and of keys, if the module has any.
        speeds: radians per token at which pairs of numbers turn, (D/2,), if the model has rotary positions.
        norm_before, norm_after: the names of the norms before the projections and after the residual sum, as far as
            their places have the usual names.
    """

    x: Array
    keys_x: Array
    joined: Array
    added: Array
    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    output: nn.Linear
    norms: tuple[nn.Module, nn.Module] | None
    speeds: Array | None
    norm_before: str | None
    norm_after: str | None


class ProjectionHooks:
    """Keeps what goes through the projections of every attention module of a model, until `undo` is closed."""

    def __init__(self, model: nn.Module, undo: ExitStack) -> None:
        self._model = model
        self._modules = {path: found for path, _ in model.named_modules() if (found := _linears(model, path))}
        self._seen: dict[str, dict[str, list[Tensor]]] = defaultdict(lambda: defaultdict(list))
        for path, (query, key, _, output) in self._modules.items():
            seen = self._seen[path]
            for name, layer in (("x", query), ("keys_x", key), ("joined", output)):
                undo.callback(layer.register_forward_pre_hook(_keeping(seen[name])).remove)
            undo.callback(output.register_forward_hook(_keeping_output(seen["added"])).remove)

    def of(self, path: str, call: int) -> Projected | None:
        """What went through a module's projections in one of its calls, from 0; None if they aren't known."""
        if path not in self._modules or any(len(all_) <= call for all_ in self._seen[path].values()):
            return None
        seen = {name: _array(self._seen[path][name][call]) for name in ("x", "keys_x", "joined", "added")}
        query, key, value, output = self._modules[path]
        module = self._model.get_submodule(path)
        q_norm, k_norm = getattr(module, "q_norm", None), getattr(module, "k_norm", None)
        speeds = next((buffer for name, buffer in self._model.named_buffers() if name.endswith("inv_freq")), None)
        parent = self._model.get_submodule(path.rpartition(".")[0])
        after = getattr(getattr(parent, "output", None), "LayerNorm", None) or getattr(parent, "sa_layer_norm", None)
        return Projected(
            seen["x"],
            seen["keys_x"],
            seen["joined"],
            seen["added"],
            query,
            key,
            value,
            output,
            None if q_norm is None or k_norm is None else (q_norm, k_norm),
            None if speeds is None else speeds.detach().float().cpu().numpy(),
            next((type(getattr(parent, name)).__name__ for name in _NORMS_BEFORE if hasattr(parent, name)), None),
            None if after is None else type(after).__name__,
        )


def _array(x: Tensor) -> Array:
    """A tensor in float32; of a batch, its only text."""
    plain: Array = x.detach().float().cpu().numpy()
    return plain[0] if plain.ndim == 3 else plain


def _keeping(kept: list[Tensor]) -> Any:
    def hook(_: nn.Module, args: tuple[Tensor, ...]) -> None:
        kept.append(args[0])

    return hook


def _keeping_output(kept: list[Tensor]) -> Any:
    def hook(_: nn.Module, __: tuple[Tensor, ...], output: Tensor) -> None:
        kept.append(output)

    return hook


def _linears(model: nn.Module, path: str) -> tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear] | None:
    """The layers for queries, keys, values and joined heads of the module at a path; None if it has no such layers."""
    module = model.get_submodule(path)
    for names in _NAMES:
        three = [getattr(module, name, None) for name in names]
        if all(isinstance(layer, nn.Linear) for layer in three):
            break
    else:
        return None
    output = next((getattr(module, name) for name in _OUTPUTS if hasattr(module, name)), None)
    if output is None:  # BERT's is in its parent
        output = getattr(getattr(model.get_submodule(path.rpartition(".")[0]), "output", None), "dense", None)
    if not isinstance(output, nn.Linear):
        return None
    query, key, value = three
    assert isinstance(query, torch.nn.Linear)
    assert isinstance(key, torch.nn.Linear)
    assert isinstance(value, torch.nn.Linear)
    return query, key, value, output

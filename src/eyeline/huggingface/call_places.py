"""Where each attention call of a model stands: its module, kind, layer and pass, and the positions of its tokens."""

from __future__ import annotations

import threading
import warnings
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from eyeline.edits import Kind
from eyeline.huggingface.attaching import few, models_in
from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.forward_passes import ForwardPasses
from eyeline.huggingface.mask_structure import looks_back
from eyeline.words import worded

#: Parts of the names of modules that attend to another sequence.
_CROSS = ("cross", "encdec", "encoder_attn")


@dataclass(frozen=True, eq=False)
class PlacedCall:
    """Where one call stands.

    Attributes:
        module: the path of its module.
        kind: its kind of attention.
        layer: its number among the calls of its kind in its pass, from 0.
        forward: the number of the pass, from 0.
        first_query: the position of the first query in its sequence.
        first_key: the position of the first key.
        tokens: bool, (B, positions), which positions of the queries' sequence aren't padding; None if the model wasn't
            told.
    """

    module: str
    kind: Kind
    layer: int
    forward: int
    first_query: int
    first_key: int
    tokens: Tensor | None

    def real_queries(self, call: AttentionCall) -> Tensor | None:
        """Which queries aren't padding, (B, N); None if none is padding."""
        B, _, N, _ = call.q.shape
        if self.kind != "cross":
            real = None if call.structured is None else call.structured.real_queries()
        else:
            real = None if self.tokens is None else self.tokens[:, self.first_query : self.first_query + N]
        if real is None or real.shape != (B, N) or bool(real.all()):
            return None
        return real.to(call.q.device)

    def positions(self, call: AttentionCall) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The position of each query and each key in its sequence, (B or 1, N) and (B or 1, M): padding left out, -1
        for padding and for slots of a cache that hold nothing yet."""
        N, M = call.q.shape[2], call.k.shape[2]
        structured = call.structured
        of_keys = None if structured is None else structured.tokens
        of_queries = self.tokens if self.kind == "cross" else of_keys
        first_query = self.first_query
        if self.kind != "cross" and (structured is None or structured.positions is None):
            first_query = max(M - N, 0)  # a mask of the user's own: the last query is the last key
        queries = _positions(of_queries, first_query, N)
        keys = _positions(of_keys, self.first_key, M)
        if self.kind != "cross":
            keys = np.where(np.arange(self.first_key, self.first_key + M) < first_query + N, keys, -1)
        return queries, keys


def _positions(tokens: Tensor | None, first: int, count: int) -> NDArray[np.int64]:
    """The positions of `count` tokens from `first` on, where `tokens`, (B, positions), says which are there."""
    if tokens is None:
        return np.arange(first, first + count)[None]
    real = np.asarray(tokens.detach().cpu().numpy(), bool)
    real = np.pad(real, ((0, 0), (0, max(first + count - real.shape[1], 0))))
    return np.where(real, np.cumsum(real, axis=1) - 1, -1)[:, first : first + count]


class CallPlaces:
    """Follows a model through its passes, and says where each attention call stands.

    Attributes:
        parts: the model's modules, itself among them.
        paths: the path of each, by its id.
        name: the class of the model.
        called: the modules that called Eyeline, each with the number of its last layer.
        last: the last layer that called it, by kind.
    """

    def __init__(self, model: nn.Module) -> None:
        self.name = type(models_in(model)[0]).__name__
        # torch.compile wraps a model in a module of its own.
        named = dict(getattr(model, "_orig_mod", model).named_modules())
        self.parts = tuple(named.values())
        self.paths = {id(part): path for path, part in named.items()}
        self.called: dict[str, int] = {}
        self.last: dict[Kind, int] = {}
        self._passes = ForwardPasses()
        self._cross_by_name: dict[str, bool] = {}
        self._lock = threading.Lock()

    @property
    def passes(self) -> int:
        """The number of passes so far."""
        return self._passes.count

    def follow(self, undo: ExitStack) -> None:
        """Follow the model from now on, until `undo` is closed."""
        self._passes.follow(self.parts, undo)

    def place(self, module: nn.Module, call: AttentionCall) -> PlacedCall:
        """Where a call of this module stands; each call is to be asked for once."""
        current = self._passes.attention_called(module, call.structured)
        path = self.paths[id(module)]
        kind = self._kind(module, path, call)
        layer = current.layers[kind]
        current.layers[kind] += 1
        positions = None if call.structured is None else call.structured.positions
        if positions is not None and kind != "cross":
            current.first_query = positions.first_query
        with self._lock:
            self.called[path] = layer
            self.last[kind] = max(layer, self.last.get(kind, 0))
        first_key = 0 if positions is None else positions.first_key
        return PlacedCall(path, kind, layer, current.number, current.first_query, first_key, current.tokens)

    def check_called(self, nothing: str) -> tuple[str, ...]:
        """Report, at the end, a model that never called Eyeline, and modules that were missed.

        Args:
            nothing: what wasn't done there, for the warning.

        Returns:
            The paths of these modules.

        Raises:
            HuggingFaceError: if the model ran without calling Eyeline.

        Warns:
            UserWarning: if some modules ran without calling Eyeline.
        """
        if self.passes and not self.called:
            raise HuggingFaceError(
                worded(
                    "model must call transformers' attention interface, got {name}, which ran ({passes} × here) "
                    "and never did; it computes attention by itself or has none, and Eyeline can't reach it",
                    name=self.name,
                    passes=self.passes,
                )
            )
        missed = [self.paths[id(part)] for part in self._passes.silent]
        if missed:
            warnings.warn(
                worded(
                    "{few} in {name} ran without calling Eyeline: {nothing}",
                    few=few(missed),
                    name=self.name,
                    nothing=nothing,
                ),
                stacklevel=5,
            )
        return tuple(missed)

    def _kind(self, module: nn.Module, path: str, call: AttentionCall) -> Kind:
        running = self._passes.current.running
        cross = self._cross_by_name.get(path)
        if cross is None:
            cross = self._cross_by_name[path] = is_cross_by_name(module, path)
        if cross or (running and running[-1].cross):
            return "cross"
        decodes = looks_back(call.mask) or bool(getattr(module, "is_causal", False))
        return "decoder self" if decodes else "encoder self"


def is_cross_by_name(module: nn.Module, path: str) -> bool:
    """Whether a module attends to another sequence, as its name or it itself says."""
    named = f"{type(module).__name__}.{path.rpartition('.')[2]}".lower()
    return any(part in named for part in _CROSS) or bool(getattr(module, "is_cross_attention", False))

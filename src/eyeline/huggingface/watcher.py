"""What is kept of every call of a watched model's attention."""

from __future__ import annotations

import threading
import warnings
from contextlib import ExitStack
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.passes import Passes, in_backward
from eyeline.huggingface.request import Request
from eyeline.huggingface.structure import looks_back
from eyeline.huggingface.watched import Kind, Watched, WatchedCall
from eyeline.masks import Align
from eyeline.readouts import MeanDistance, Readout
from eyeline.readouts.observation import Observation, TopKeys

#: By a module's id; the watcher holds its model.
_WATCHED: dict[int, Watcher] = {}


def watcher_of(module: nn.Module) -> Watcher | None:
    """Who is watching this module."""
    return _WATCHED.get(id(module))


class Watcher:
    """One block of `watch`: the model, what is read, and of which layers and heads."""

    def __init__(
        self,
        model: nn.Module,
        name: str,
        read: tuple[Readout, ...],
        layers: tuple[int | str, ...] | None,
        heads: tuple[int, ...] | None,
    ) -> None:
        self.seen = Watched()
        self._model, self._name, self._read, self._layers, self._heads = model, name, read, layers, heads
        # torch.compile wraps a model in a module of its own.
        model = getattr(model, "_orig_mod", model)
        self._paths = {id(part): path for path, part in model.named_modules()}
        if any(number in _WATCHED for number in self._paths):
            raise HuggingFaceError("model must be watched once at a time, got one that is being watched already")
        self._again = any(getattr(part, "gradient_checkpointing", False) for part in model.modules())
        self._passes = Passes()
        self._called: dict[str, int] = {}
        self._matched: set[int | str] = set()
        self._lock = threading.Lock()

    def install(self, undo: ExitStack) -> None:
        """Hang on to the model; `undo` lets go of it."""
        for number in self._paths:
            _WATCHED[number] = self
            undo.callback(_WATCHED.pop, number)
        self._passes.follow(self._model, undo)

    def finish(self) -> None:
        """Say what isn't as it should be."""
        if self._passes.count and not self._called:
            raise HuggingFaceError(
                f"model must call transformers' attention interface, got {self._name}, which ran "
                f"({self._passes.count} × here) and never did; it computes attention by itself or has none, and "
                f"Eyeline can't reach it"
            )
        self.seen.missed = missed = tuple(self._paths[id(part)] for part in self._passes.silent)
        if missed:
            more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
            warnings.warn(
                f"{', '.join(missed[:3])}{more} in {self._name} looked at something without calling Eyeline: nothing "
                f"was read of it",
                stacklevel=4,
            )
        absent = [layer for layer in self._layers or () if layer not in self._matched]
        if self._called and absent:
            path, layer = max(self._called.items(), key=lambda called: called[1])
            raise HuggingFaceError(
                f"layers must be of this model, got {absent[0]!r}, which was never called; called were numbers up to "
                f"{layer} and modules such as {path!r}"
            )

    def look(self, module: nn.Module, request: Request) -> Tensor:
        """The output of a call, having kept what was to be read of it."""
        if in_backward():
            return request.output()
        now, path = self._passes.now, self._paths[id(module)]
        for inside in now.inside:
            inside.calls += 1
        kind = self._kind(module, path, request)
        layer = now.layers[kind]
        now.layers[kind] += 1
        place = None if request.masking is None else request.masking.place
        if place is not None and kind != "cross":
            now.first_query = place.first_query
        with self._lock:
            self._called[path] = layer
        if not self._wanted(layer, path):
            return request.output()
        real = self._real_queries(kind, request)
        heads = self._heads_of(path, request)
        output, seen = self._observed(request, self._read_of(kind, request), heads, real)
        look = WatchedCall(
            module=path,
            kind=kind,
            layer=layer,
            forward=now.forward,
            heads=heads,
            first_query=now.first_query,
            first_key=0 if place is None else place.first_key,
            mask=request.mask,
            keys=request.k.shape[2],
            real=None if real is None else real.cpu().numpy(),
            real_keys=_real_keys(request),
            seen=_arrays(seen),
        )
        with self._lock:
            self.seen.looks.append(look)
        return output

    def _observed(
        self, request: Request, read: list[Readout], heads: tuple[int, ...], real: Tensor | None
    ) -> tuple[Tensor, Observation]:
        """The output of all heads, and what is read of some, of real queries.

        Where layers are run again in the backward pass, what is read has no part in the graph, so that they are as they
        were.
        """
        if self._heads is None and real is None and not self._again:
            seen = request.observe(read)
            output: Any = seen.output
            return output, seen
        with torch.no_grad():
            part = request if self._heads is None else request.of_heads(heads)
            seen = (part if real is None else part.of_queries(real)).observe(read)
        return request.output(), seen

    def _kind(self, module: nn.Module, path: str, request: Request) -> Kind:
        inside = self._passes.now.inside
        named = f"{type(module).__name__}.{path.rpartition('.')[2]}".lower()
        cross = any(part in named for part in ("cross", "encdec", "encoder_attn"))
        if cross or getattr(module, "is_cross_attention", False) or (inside and inside[-1].cross):
            return "cross"
        decodes = looks_back(request.mask) or bool(getattr(module, "is_causal", False))
        return "decoder self" if decodes else "encoder self"

    def _wanted(self, layer: int, path: str) -> bool:
        if self._layers is None:
            return True
        found = {one for one in self._layers if (fnmatchcase(path, one) if isinstance(one, str) else one == layer)}
        with self._lock:
            self._matched |= found
        return bool(found)

    def _heads_of(self, path: str, request: Request) -> tuple[int, ...]:
        count = request.q.shape[1]
        heads = tuple(range(count)) if self._heads is None else self._heads
        if max(heads, default=0) >= max(count, 1):
            raise HuggingFaceError(f"heads must be from 0 to {count - 1} in {path}, got {max(heads)}")
        return heads

    def _real_queries(self, kind: Kind, request: Request) -> Tensor | None:
        """Which queries are no padding, (B, N); None if all are."""
        B, _, N, _ = request.q.shape
        if kind != "cross":
            real = None if request.masking is None else request.masking.real_queries()
        else:
            tokens, first = self._passes.now.tokens, self._passes.now.first_query
            real = None if tokens is None else tokens[:, first : first + N]
        if real is None or real.shape != (B, N) or bool(real.all()):
            return None
        return real.to(request.q.device)

    def _read_of(self, kind: Kind, request: Request) -> list[Readout]:
        """What is to be read of this call."""
        place = None if request.masking is None else request.masking.place
        unequal = request.q.shape[2] != request.k.shape[2]
        align: Align | None = place.align if place is not None else "end" if unequal else None
        found: list[Readout] = []
        for readout in self._read:
            if not isinstance(readout, MeanDistance) or readout.align is not None:
                found.append(readout)
            elif kind != "cross":
                found.append(MeanDistance(align))
        return found


def _real_keys(request: Request) -> NDArray[np.bool_] | None:
    """Which keys are no padding, (B, M); None if all are."""
    masking = request.masking
    if masking is None or masking.tokens is None or masking.place is None:
        return None
    first, M = masking.place.first_key, request.k.shape[2]
    keys = masking.tokens[:, first : first + M].cpu().numpy()
    return np.pad(keys, ((0, 0), (0, M - keys.shape[1])))


def _arrays(seen: Observation) -> Observation:
    """As NumPy arrays, without the output."""
    tensors = {one.name: getattr(seen, one.name) for one in fields(seen) if isinstance(getattr(seen, one.name), Tensor)}
    tensors["output"] = seen.output[:, :, :0]
    changed: dict[str, Any] = {name: _array(tensor) for name, tensor in tensors.items()}
    if seen.top_k is not None:
        changed["top_k"] = TopKeys(_array(seen.top_k.keys), _array(seen.top_k.weights))
    return replace(seen, **changed)


def _array(x: Any) -> NDArray[Any]:
    x = x.detach().cpu()
    return np.asarray(x.float() if x.dtype == torch.bfloat16 else x)

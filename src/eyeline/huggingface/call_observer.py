"""Reading every attention call of a watched model, and keeping the readouts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.call_places import CallPlaces
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.forward_passes import in_backward
from eyeline.huggingface.observers import check_unobserved, observe_modules
from eyeline.huggingface.watched_call import Kind, WatchedCall
from eyeline.huggingface.watched_calls import Watched
from eyeline.masks import Align
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.words import worded


class CallObserver:
    """One block of `watch`: the model, the readouts, and the layers and heads to read.

    Attributes:
        watched: the readouts of the calls so far.
        parts: the model's modules, itself among them.
    """

    def __init__(
        self,
        model: nn.Module,
        read: tuple[Readout, ...],
        layers: tuple[int | str, ...] | None,
        heads: tuple[int, ...] | None,
    ) -> None:
        self.watched = Watched()
        self._model, self._layers, self._heads = model, layers, heads
        self._places = CallPlaces(model)
        self.parts = self._places.parts
        check_unobserved(self._places.paths)
        # Read from the module itself: torch looks for a missing attribute for a microsecond.
        self._checkpointed = any(vars(part).get("gradient_checkpointing") for part in self.parts)
        self._asked = with_options(read)
        self._matched: set[int | str] = set()
        self._lock = threading.Lock()

    def install(self, undo: ExitStack) -> None:
        """Observe the model's calls from now on, until `undo` is closed."""
        observe_modules(self._places.paths, self, undo)
        self._places.follow(undo)

    def finish(self) -> None:
        """Report, at the end, a model that never called Eyeline, modules that were missed, and layers that don't exist.

        Raises:
            HuggingFaceError: if the model ran without calling Eyeline, or never called one of the requested layers.

        Warns:
            UserWarning: if some modules ran without calling Eyeline.
        """
        self.watched.missed = self._places.check_called(worded("nothing was read of it"))
        absent = [layer for layer in self._layers or () if layer not in self._matched]
        called = self._places.called
        if called and absent:
            path, layer = max(called.items(), key=lambda one: one[1])
            raise HuggingFaceError(
                worded(
                    "layers must be of this model, got {absent!r}, which was never called; called were numbers "
                    "up to {layer} and modules such as {path!r}",
                    absent=absent[0],
                    layer=layer,
                    path=path,
                )
            )

    def observe(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the output of a call, and keep its readouts."""
        if in_backward():
            return call.output()
        place = self._places.place(module, call)
        if not self._wanted(place.layer, place.module):
            return call.output()
        real = place.real_queries(call)
        heads = self._heads_of(place.module, call)
        output, seen = self._observed(call, self._readouts_of(place.kind, call), heads, real)
        kept = WatchedCall(
            module=place.module,
            kind=place.kind,
            layer=place.layer,
            forward=place.forward,
            heads=heads,
            first_query=place.first_query,
            first_key=place.first_key,
            mask=call.mask,
            keys=call.k.shape[2],
            real=None if real is None else _array(real),
            real_keys=None if call.structured is None else call.structured.real_keys(),
            seen=seen,
        )
        with self._lock:
            self.watched.calls.append(kept)
        return output

    def asked(self) -> list[tuple[Readout, dict[str, Any] | None]]:
        """The readouts, as `with_options` gives them."""
        return self._asked

    def _observed(
        self, call: AttentionCall, read: list[Readout], heads: tuple[int, ...], real: Tensor | None
    ) -> tuple[Tensor, Observation]:
        """The output of all heads, and the readouts of the watched heads, without padded queries.

        Where layers are run again in the backward pass, readouts stay out of the graph, so that it is the graph of the
        first run.
        """
        if self._heads is None and not self._checkpointed:
            output, seen = call.observe(read, real)
            return output, _without_padding(_as_arrays(seen), call.sinks, real)
        with torch.no_grad():
            part = call if self._heads is None or call.edits else call.of_heads(heads)
            seen = _without_padding(_as_arrays(part.observe(read, real)[1]), part.sinks, real)
            if self._heads is not None and call.edits:
                seen = _of_heads(seen, heads)
        return call.output(), seen

    def _wanted(self, layer: int, path: str) -> bool:
        if self._layers is None:
            return True
        found = {one for one in self._layers if (fnmatchcase(path, one) if isinstance(one, str) else one == layer)}
        with self._lock:
            self._matched |= found
        return bool(found)

    def _heads_of(self, path: str, call: AttentionCall) -> tuple[int, ...]:
        count = call.q.shape[1]
        heads = tuple(range(count)) if self._heads is None else self._heads
        if max(heads, default=0) >= max(count, 1):
            raise HuggingFaceError(
                worded(
                    "heads must be from 0 to {count} in {path}, got {max}", count=count - 1, path=path, max=max(heads)
                )
            )
        return heads

    def _readouts_of(self, kind: Kind, call: AttentionCall) -> list[Readout]:
        """The readouts for this call: distances are measured from the positions of its queries."""
        positions = None if call.structured is None else call.structured.positions
        unequal = call.q.shape[2] != call.k.shape[2]
        align: Align | None = positions.align if positions is not None else "end" if unequal else None
        found: list[Readout] = []
        for readout, options in self.asked():
            if options is None:
                found.append(readout)
            elif kind != "cross":
                found.append(type(readout)(**(options | {"align": align})))
        return found


def with_options(read: Sequence[Readout]) -> list[tuple[Readout, dict[str, Any] | None]]:
    """Each readout, with its options if it must be told the positions of a call's queries."""
    return [(one, one.parts() if one.parts().get("align", ...) is None else None) for one in read]


def _as_arrays(seen: Any) -> Observation:
    """The observation as NumPy arrays, without the output."""
    arrays = seen if isinstance(seen.lse, np.ndarray) else seen.map(_array)
    B, H, _, E = arrays.output.shape
    # Not a slice, which would keep the output's memory.
    bare: Observation = replace(arrays, output=np.empty((B, H, 0, E), arrays.lse.dtype))
    return bare


def _of_heads(seen: Observation, heads: tuple[int, ...]) -> Observation:
    """The observation of some heads."""
    chosen = seen.map(lambda x: x[:, list(heads)])
    results = [replace(found, shape=replace(found.shape, heads=len(heads))) for found in chosen.results]
    return replace(chosen, results=tuple(results))


def _without_padding(seen: Observation, sinks: Tensor | None, real: Tensor | None) -> Observation:
    """The observation in which lse and sink of padded queries are those of a query that may look at no key."""
    if real is None:
        return seen
    counts = _array(real)[:, None]
    if seen.sink is None or sinks is None:
        return replace(seen, lse=np.where(counts, seen.lse, seen.lse.dtype.type(-np.inf)))
    lse = np.where(counts, seen.lse, _array(sinks)[:, None].astype(seen.lse.dtype))
    return replace(seen, lse=lse, sink=np.where(counts, seen.sink, seen.sink.dtype.type(1)))


def _array(x: Any) -> NDArray[Any]:
    if isinstance(x, np.ndarray):
        return x
    x = x.detach().cpu()
    return np.asarray(x.float() if x.dtype == torch.bfloat16 else x)

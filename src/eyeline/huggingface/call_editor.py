"""Finding the edits of every attention call of an edited model."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from eyeline.edits import CallEdits, CallPlace, Edit, EditError, Kind, as_batch, lowered
from eyeline.edits.selection import indices, selected
from eyeline.huggingface.attaching import check_attachable
from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.attention_modules import attention_modules, check_edits, layers_by_kind
from eyeline.huggingface.call_places import CallPlaces, PlacedCall
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.forward_passes import in_backward
from eyeline.huggingface.observers import edit_modules
from eyeline.huggingface.structured_mask import StructuredMask
from eyeline.words import worded

#: By module and shapes, the edits of its calls: by layer, with some numbers of the queries.
_Remembered = dict[Any, dict[tuple[Kind, int], tuple[Tensor, CallEdits | None]]]


class CallEditor:
    """One block of `edit`: the model, and the edits.

    Args:
        model: the model.
        each: the edits of each text of a batch; one list of edits for all texts.

    Attributes:
        edits: all edits.
        parts: the model's modules, itself among them.
    """

    def __init__(self, model: nn.Module, each: Sequence[Sequence[Edit]]) -> None:
        check_attachable(model)
        modules = attention_modules(getattr(model, "_orig_mod", model))
        self._each = [tuple(edits) for edits in each]
        self.edits, self._layers = tuple(edit for edits in each for edit in edits), layers_by_kind(modules)
        if modules:  # else the end says that the model never called Eyeline
            check_edits(self.edits, modules)
        self._places = CallPlaces(model)
        self.parts = self._places.parts
        self._done: set[tuple[Edit, int | None]] = set()
        self._reached: set[Edit] = set()
        self._kind_of: dict[Edit, Kind | None] = {}
        # What a backward pass repeats: by the mask of its pass, or by shapes where positions don't depend on one.
        self._by_mask: weakref.WeakKeyDictionary[StructuredMask, _Remembered] = weakref.WeakKeyDictionary()
        self._by_shape: _Remembered = {}
        self._lock = threading.Lock()

    def install(self, undo: ExitStack) -> None:
        """Edit the model's calls from now on, until `undo` is closed."""
        undo.callback(self._expire)
        edit_modules(self._places.paths, self, undo)
        self._places.follow(undo)

    def of_call(self, module: nn.Module, call: AttentionCall) -> CallEdits | None:
        """The edits of a call; None if it has none.

        Raises:
            EditError: if they don't fit it.
        """
        if in_backward():
            return self._again(module, call)
        placed = self._places.place(module, call)
        edits = self._found(placed, call)
        if torch.is_grad_enabled() or module.training:
            self._remembered(module, call)[placed.kind, placed.layer] = _telling(call), edits
        return edits

    def _found(self, placed: PlacedCall, call: AttentionCall) -> CallEdits | None:
        H, G = call.q.shape[1], call.k.shape[1]
        layers = self._layers.get(placed.kind)
        nowhere = np.zeros((1, 0), np.int64)
        place = CallPlace(H, G, nowhere, nowhere, placed.layer, placed.kind)
        here = [edit for edit in self.edits if edit.concerns(place, layers)]
        if not here:
            return None
        place = CallPlace(H, G, *placed.positions(call), placed.layer, placed.kind)
        with self._lock:
            for edit in here:
                self._note(edit, place)
        if len(self._each) == 1:
            return lowered(here, place, layers) or None
        if len(self._each) != len(call.q):
            raise EditError(
                worded(
                    "edits must be a list for each of the {count} texts, got {got} lists",
                    count=len(call.q),
                    got=len(self._each),
                )
            )
        return as_batch([lowered(edits, place, layers) for edits in self._each]) or None

    def _note(self, edit: Edit, place: CallPlace) -> None:
        """Note that an edit was carried out, and whether its tokens were there.

        Raises:
            EditError: if it did so in another kind of attention, and doesn't say which.
        """
        before = self._kind_of.setdefault(edit, place.kind)
        if edit.kind is None and before != place.kind:
            raise EditError(
                worded(
                    "kind must be given, since this model has {before!r} and {kind!r}, whose layers are counted "
                    "apart, got {edit!r}; add kind={before!r}",
                    before=before,
                    kind=place.kind,
                    edit=edit,
                )
            )
        self._done.add((edit, place.layer))
        if all(selected(name, getattr(edit, name), getattr(place, side)).any() for name, side in edit.tokens.items()):
            self._reached.add(edit)

    def _remembered(
        self, module: nn.Module, call: AttentionCall
    ) -> dict[tuple[Kind, int], tuple[Tensor, CallEdits | None]]:
        by = self._by_shape if call.structured is None else self._by_mask.setdefault(call.structured, {})
        return by.setdefault((id(module), call.q.shape, call.k.shape), {})

    def _again(self, module: nn.Module, call: AttentionCall) -> CallEdits | None:
        """The edits of a call that a backward pass repeats; of several of one module (ALBERT), those of the call whose
        queries were the same."""
        kept = list(self._remembered(module, call).values())
        if not kept:
            raise HuggingFaceError(
                worded(
                    "backward() must repeat calls that were made within the block of eyeline.edit, with their "
                    "masks, got one that wasn't; run the model within the block, and run layers again rather "
                    "than the model"
                )
            )
        if len(kept) == 1:
            return kept[0][1]
        here = _telling(call)
        return min(kept, key=lambda one: float((one[0] - here).abs().sum()))[1]

    def _expire(self) -> None:
        """Calls that are repeated after the block would be unedited: they are refused."""
        for mask in list(self._by_mask):
            mask.expire(
                worded("backward() must run within the block of eyeline.edit where layers are run again for it")
            )
        self._by_mask.clear()
        self._by_shape.clear()

    def finish(self) -> None:
        """Report, at the end, a model that never called Eyeline, and edits of layers that were never called.

        Raises:
            HuggingFaceError: if the model ran without calling Eyeline.
            EditError: if an edit's layer was never called.

        Warns:
            UserWarning: if the model never ran, some modules ran without calling Eyeline, or an edit's tokens never
                came.
        """
        self._places.check_called(worded("nothing was edited in it"))
        if not self.edits:
            return
        if not self._places.called:
            warnings.warn(
                worded("{name} never ran within the block: no edit took effect", name=self._places.name), stacklevel=4
            )
            return
        for edit in self.edits:
            done = {layer for one, layer in self._done if one is edit}
            known = not (edit.layer is None or isinstance(edit.layer, slice))
            asked = indices("layer", edit.layer, 1 << 30) if known else ()
            missed = [layer for layer in asked if layer not in done]
            if missed or not done:
                raise EditError(
                    worded(
                        "layer must be one that the model ran within the block, got {what} in {edit!r}, which was "
                        "never called; called were {called}",
                        what=missed[0] if missed else edit.layer,
                        edit=edit,
                        called=self._called(),
                    )
                )
            if edit not in self._reached:
                warnings.warn(
                    worded("{edit!r} changed nothing: no pass had all of its tokens", edit=edit), stacklevel=4
                )

    def _called(self) -> str:
        return f" {worded('and')} ".join(f"layers 0 to {last} ({kind})" for kind, last in self._places.last.items())


def _telling(call: AttentionCall) -> Tensor:
    """Some numbers of a call's queries, which tell it from others of its module."""
    return call.q.detach()[:1, :, -1:, :2].reshape(-1).clone()

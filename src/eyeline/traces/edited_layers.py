"""The layers of a run in a trace's form: q, k and v as patched, the mask without what was cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eyeline.edits import CallEdits, Edit, Kind, ModelEdits
from eyeline.edits.arrays import changed_inputs
from eyeline.edits.structure import changed_mask
from eyeline.masks import Mask
from eyeline.models import Layer, Model, Tokens
from eyeline.models.sites import model_edits
from eyeline.traces.allowed import Allowed, allowed
from eyeline.traces.finding_words import word_positions
from eyeline.traces.keep import Keep
from eyeline.traces.layer_trace import LayerTrace
from eyeline.traces.stored_edits import after_softmax, mask_has


def found_edits(edits: Sequence[Edit], model: Model, tokens: Tokens) -> ModelEdits | None:
    """The edits of a model with one kind of attention over a text, with positions in place of words; None for none.

    Raises:
        EditError: if the model hasn't such a layer or head, or a word isn't in the text, or is in it twice.
    """
    found = model_edits(edits, model.config)
    return None if found is None else found.with_words_found(lambda word, side: word_positions(word, tokens, side))


class LayersOfText:
    """The layers of a text's run, in a trace's form.

    Args:
        keep: what is kept.
        scale: the factor of the scores.
        edits: what was changed.
        kind: the layers' kind, by which edits name it.
    """

    def __init__(self, keep: Keep, scale: float, edits: ModelEdits | None, kind: Kind) -> None:
        self._keep, self._scale, self._edits, self._kind = keep, scale, edits, kind
        self._mask: tuple[Mask | None, Allowed] | None = None

    def kept(self, number: int, layer: Layer) -> LayerTrace:
        """A layer, of a batch of one text."""
        q, k, v = layer.q, layer.k, layer.v
        own = self.changed(number, q.shape[2], k.shape[2])
        mask = layer.mask
        if own is not None:
            q, k, v = changed_inputs(own.inputs, q, k, v)
            mask = changed_mask(mask, own) if mask_has(own.cuts) else mask
        return LayerTrace(
            np.ascontiguousarray(q[0]),
            np.ascontiguousarray(k[0]),
            np.ascontiguousarray(v[0]) if self._keep.values else None,
            layer.lse[0],
            self._scale,
            self._allowed(mask, q.shape[1:3], k.shape[2]),
            edits=after_softmax(own),
        )

    def changed(self, number: int, queries: int, keys: int) -> CallEdits | None:
        """The edits of a layer, of queries and keys that count from 0."""
        if self._edits is None:
            return None
        return self._edits.of_call(self._kind, number, np.arange(queries)[None], np.arange(keys)[None])

    def _allowed(self, mask: Mask | None, rows: tuple[int, int], keys: int) -> Allowed:
        """The mask in a trace's form; layers with the same one share it."""
        if self._mask is None or self._mask[0] != mask:
            self._mask = mask, allowed(mask, *rows, keys)
        return self._mask[1]

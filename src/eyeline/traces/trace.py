"""The trace of a run: everything needed to compute any part of its attention weights."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from eyeline.edits import Edit
from eyeline.masks import Mask
from eyeline.models.model_positions import ModelPositions
from eyeline.models.network import Network
from eyeline.models.vocabulary import Vocabulary
from eyeline.readouts.observation import Observation
from eyeline.readouts.weights import Which
from eyeline.traces import applying, regions
from eyeline.traces.errors import TraceError
from eyeline.traces.image import Image
from eyeline.traces.inputs import KeptInputs
from eyeline.traces.keep import Keep
from eyeline.traces.layer_trace import LayerArrays, LayerTrace, layers_of
from eyeline.traces.measures import Measures, asked, measures
from eyeline.traces.observed_layers import observed_layers
from eyeline.traces.passed_lengths import passed_lengths
from eyeline.traces.positions import is_whole
from eyeline.traces.projections import Projections, projections
from eyeline.traces.safetensors_file import write_trace
from eyeline.traces.sizes import Sizes
from eyeline.traces.stored_trace import stored_trace
from eyeline.traces.tokenized_text import TokenizedText, given_lines
from eyeline.words import worded

Array = NDArray[Any]
Kind = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The record of one run, from which any weight is computed exactly, as exp(scale·q·k - lse). Made by `record`;
    layers and heads are counted from 0.

    Attributes:
        name: the change to the run: "as trained", "causal", "without ÷ √d", "gate L5H3 0"; or the part of the model.
        model: the model's name and sizes.
        kind: "encoder", "decoder" (causal) or "cross" (queries and keys are different sequences).
        queries, keys: the query and the key tokens; keys is None if they are the same.
        layers: one entry per layer of the model.
        vectors: of the tokens `vector_tokens`, before the first layer and after each, (L + 1, tokens, width), or None.
        vector_tokens: the positions of those tokens.
        seen: the requested readouts of each layer, with axes (1, H, N, ...) or (H, 1, N, ...).
        inputs: what went into each layer's projections, if it was requested; `projections` gives it head by head.
        image: the picture whose patches are the tokens; None for a text.
        edits: what was changed in the run, with positions in place of words.
        vocabulary: the model's words, which `vectors` can be compared with; None without these, or from a file.
        placing: how the model tells positions apart; None if that isn't known, or the trace comes from a file.
        network: the model that ran, if it is one of Eyeline's; None if the trace comes from a file.
    """

    name: str
    model: Sizes
    kind: Kind
    queries: TokenizedText
    keys: TokenizedText | None
    layers: tuple[LayerTrace, ...]
    _measures: Measures | None = None
    vectors: Array | None = None
    vector_tokens: tuple[int, ...] = ()
    seen: tuple[Observation, ...] = ()
    inputs: KeptInputs | None = None
    vocabulary: Vocabulary | None = None
    placing: ModelPositions | None = None
    image: Image | None = None
    edits: tuple[Edit, ...] = ()
    network: Network | None = None

    def __repr__(self) -> str:
        N, M = len(self.queries), len(self.across)
        tokens = f"{N} tokens" if self.keys is None else f"{N} × {M} tokens"
        size = f"{self.model.layers} × {self.model.heads} heads"
        return f"<Trace of {self.queries.text[:40]!r}: {self.model.name}, {self.name}, {size}, {tokens}>"

    @cached_property
    def measures(self) -> Measures:
        """Summary numbers and a thumbnail of every head."""
        if self._measures is not None:
            return self._measures
        read = asked(self.queries, self.keys)
        return measures([layer.observe(read) for layer in self.layers])

    @property
    def across(self) -> TokenizedText:
        """The key tokens."""
        return self.queries if self.keys is None else self.keys

    @property
    def has_values(self) -> bool:
        """Whether the trace has values."""
        return all(layer.v is not None for layer in self.layers)

    @property
    def has_vectors(self) -> bool:
        """Whether the trace has the vectors of all tokens."""
        return self.vectors is not None and self.vector_tokens == tuple(range(len(self.queries)))

    @staticmethod
    def of(
        q: ArrayLike,
        k: ArrayLike,
        v: ArrayLike | None = None,
        *,
        mask: Mask | None = None,
        scale: float | None = None,
        queries: Sequence[str],
        keys: Sequence[str] | None = None,
        name: str = "as given",
        model: str = "your arrays",
    ) -> Trace:
        """Make a trace from your own arrays.

        Args:
            q: queries, (L, H, N, D), finite, of any floating-point dtype; stored as float32.
            k: keys, (L, G, M, D), where H is a multiple of G.
            v: values, (L, G, M, E); needed to show a token's new vector.
            mask: where queries may look, in every layer; everywhere if not given.
            scale: the factor of the scores; 1/√D if not given.
            queries: N words, one per query token.
            keys: M words, if queries and keys are different sequences.
            name, model: the names of the trace and of its model.

        Raises:
            TraceError: if an argument has a wrong shape, dtype or value; a ValueError.

        >>> import numpy as np
        >>> q, k = (np.eye(3)[None, None] for _ in range(2))
        >>> Trace.of(q, k, scale=5.0, queries=["a", "b", "c"]).weights(0, 0, queries=1).round(2)
        array([[0.01, 0.99, 0.01]], dtype=float32)
        """
        layers = layers_of(q, k, v, mask, scale)
        lines = given_lines(queries, keys, layers[0].q.shape[1], layers[0].k.shape[1], name=name, model=model)
        return Trace.of_layers(layers, *lines, name=name, model=model)

    @staticmethod
    def of_layers(
        layers: Sequence[LayerArrays],
        queries: TokenizedText,
        keys: TokenizedText | None,
        *,
        name: str,
        model: str,
        kind: Kind | None = None,
        keep: Keep | None = None,
        positions: int | None = None,
        vectors: Array | None = None,
    ) -> Trace:
        """Make a trace of layers that were run elsewhere.

        Args:
            layers: each layer's arrays.
            queries, keys, name, model, kind: as in `Trace`; by default the masks decide the kind.
            keep: what to keep of each layer; the numbers of `Trace.measures` if not given.
            positions: the model's maximum number of tokens, if known.
            vectors: the vectors of the tokens `keep.vectors`.
        """
        keep = Keep(measures=True) if keep is None else keep
        kept, measured, read = observed_layers(layers, queries, keys, keep)
        (H, _, D), (G, _, _), v = layers[0].q.shape, layers[0].k.shape, layers[0].v
        causal = all(arrays.allowed.kind == "causal" for arrays in layers)
        kind = kind or ("cross" if keys is not None else "decoder" if causal else "encoder")
        sizes = Sizes(model, len(layers), H, G, D, 0 if v is None else v.shape[2], positions)
        tokens = () if vectors is None else tuple(keep.positions(len(queries)) or ())
        return Trace(name, sizes, kind, queries, keys, kept, measured, vectors, tokens, read)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a safetensors file (docs/page-format.md), completely or not at all. `load_trace` opens it.

        Raises:
            TraceError: if the model's scores are more than scaled products (a cap, a bias, sinks), or an edit takes
                another run or other texts, which the file can't hold.
            OSError: if it can't be written.
        """
        write_trace(Path(path), *stored_trace(self))

    def weights(self, layer: int, head: int, queries: Which = None, keys: Which = None) -> Array:
        """A rectangle of one head's weights, exactly, in memory of its own size.

        Args:
            layer, head: counted from 0.
            queries, keys: which rows and columns: a position, a slice or several positions; all if not given.

        Returns:
            float32, (rows, columns).

        Raises:
            TraceError: if there is no such layer, head or position.

        >>> from eyeline.traces import record
        >>> trace = record("time flies like an arrow")
        >>> trace.weights(5, 0, 2).round(2)
        array([[0.54, 0.06, 0.07, 0.08, 0.07, 0.05, 0.13]], dtype=float32)
        """
        return regions.weights(self._with_head(layer, head), head, queries, keys)

    def pooled(
        self,
        layer: int,
        head: int,
        queries: tuple[int, int] | None = None,
        keys: tuple[int, int] | None = None,
        rows: int = 32,
        columns: int = 32,
    ) -> Array:
        """One head's weights, or a region of them, reduced to exact means of cells, in memory linear in the tokens.

        Args:
            layer, head: counted from 0.
            queries, keys: [first, last) of each; all if not given.
            rows, columns: the height and width of the result, at most those of the region.

        Returns:
            float32, (rows, columns): the mean weight of each cell; hidden pairs count as 0. Row r of R covers the
            queries from r·n//R to (r+1)·n//R of n, and columns divide the keys in the same way.

        Raises:
            TraceError: if there is no such layer, head or region, or the result would be larger than the region.
        """
        return regions.pooled(self._with_head(layer, head), head, queries, keys, rows, columns)

    def apply(self, layer: int, head: int, X: ArrayLike, transposed: bool = False) -> Array:
        """One head's weights times any numbers, A·X, exactly, without the matrix.

        Args:
            X: (M, E) or (M,), a row for each key; float64 is computed in float64, all else in float32.
            transposed: compute Aᵀ·X instead, (M, E) or (M,), from a row for each query, (N, E) or (N,).

        Raises:
            TraceError: if there is no such layer or head, or X doesn't fit.
        """
        return applying.apply(self._with_head(layer, head), head, X, transposed)

    def projections(self, layer: int, head: int) -> Projections:
        """Where the q, k and v of a head, counted from 0, come from, and what becomes of its output.

        Raises:
            TraceError: if there is no such layer or head, or its matrices and inputs weren't kept.

        >>> from eyeline.traces import record
        >>> found = record("time flies like an arrow", keep=["input"]).projections(5, 2)
        >>> found.W_q.shape, found.x.shape, found.norm_after
        ((32, 384), (7, 384), 'LayerNorm')
        """
        self._with_head(layer, head)
        return projections(self.inputs, layer, head)

    def passed_lengths(self, layer: int) -> Array:
        """The length of what each head of a layer passes on of each key at weight 1, ‖v·W_o‖: float32, (H, M). As
        `times=` of `TopK`, `Received` and `GroupMass` it makes weights lengths (Kobayashi et al. 2020).

        Raises:
            TraceError: if there is no such layer, or its heads' W_o weren't kept (`keep=["input"]`).

        >>> from eyeline.traces import record
        >>> record("time flies like an arrow", keep=["input"]).passed_lengths(5)[2].round(1)
        array([0.4, 5.1, 3.9, 2.2, 1.1, 4.3, 1.3], dtype=float32)
        """
        return passed_lengths(self.inputs, self.layer(layer), layer)

    def layer(self, layer: int) -> LayerTrace:
        """A layer, counted from 0; raises `TraceError` if there is no such layer."""
        if not is_whole(layer) or not 0 <= layer < len(self.layers):
            raise TraceError(
                worded("layer must be from 0 to {count}, got {layer!r}", count=len(self.layers) - 1, layer=layer)
            )
        return self.layers[layer]

    def _with_head(self, layer: int, head: int) -> LayerTrace:
        """A layer, once it is known to have this head."""
        self.key_head(head)
        return self.layer(layer)

    def key_head(self, head: int) -> int:
        """The key/value head that a query head uses, both counted from 0.

        Raises:
            TraceError: if there is no such head.
        """
        if not is_whole(head) or not 0 <= head < self.model.heads:
            raise TraceError(
                worded("head must be from 0 to {heads}, got {head!r}", heads=self.model.heads - 1, head=head)
            )
        return head // (self.model.heads // self.model.key_heads)

"""The layers of a trace and their readouts, of layers that were run elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from eyeline.readouts.observation import Observation
from eyeline.traces.keep import Keep
from eyeline.traces.layer_trace import LayerArrays, LayerTrace
from eyeline.traces.measures import Measures, asked, measures
from eyeline.traces.tokenized_text import TokenizedText


def observed_layers(
    layers: Sequence[LayerArrays], queries: TokenizedText, keys: TokenizedText | None, keep: Keep
) -> tuple[tuple[LayerTrace, ...], Measures | None, tuple[Observation, ...]]:
    """The layers, and of them what `keep` asks for: the measures, and the readouts."""
    measured = asked(queries, keys) if keep.measures else []
    # One call can't have two readouts of one kind, so the readouts of `keep` get a call of their own.
    kept, seen, read = [], [], []
    for arrays in layers:
        layer, found = arrays.observed(measured or keep.read)
        kept.append(layer)
        if measured and found is not None:
            seen.append(found)
        if keep.read:
            read.append(layer.observe(keep.read) if measured or found is None else found)
    return tuple(kept), measures(seen) if measured else None, tuple(read)

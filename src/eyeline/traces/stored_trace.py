"""A trace as it is stored: arrays by name, and everything else as JSON."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from eyeline.traces.image import stored_image
from eyeline.traces.layer_trace import check_plain
from eyeline.traces.safetensors_file import EDITED_SCHEMA, SCHEMA
from eyeline.traces.sizes import SIZES
from eyeline.traces.stored_edits import stored_edits
from eyeline.traces.stored_inputs import stored_inputs
from eyeline.traces.stored_layers import stored_layers
from eyeline.words import worded


def stored_trace(trace: Any) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays of a `Trace`, whose module imports this one, and its metadata; see `Trace.save`."""
    check_plain(trace.layers, trace.model.name, worded("saved"))
    edits = stored_edits(trace.edits)
    arrays, layers = stored_layers(trace.layers)
    inputs, kept = stored_inputs(trace.inputs, trace.vectors if trace.has_vectors else None)
    picture, patches = stored_image(trace.image)
    vectors = {} if trace.vectors is None else {"vectors": trace.vectors}
    about = {
        "schema": EDITED_SCHEMA if edits else SCHEMA,
        "name": trace.name,
        "kind": trace.kind,
        "model": {size: getattr(trace.model, size) for size in ("name", *SIZES)},
        "queries": trace.queries.stored(),
        "keys": None if trace.keys is None else trace.keys.stored(),
        "layers": layers,
        "inputs": kept,
        "image": patches,
        "vector_tokens": list(trace.vector_tokens),
    }
    return arrays | inputs | picture | vectors | trace.measures.stored(), about | ({"edits": edits} if edits else {})

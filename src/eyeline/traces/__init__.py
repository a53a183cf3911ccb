"""What a run leaves: queries, keys and log-sum-exps of every layer, from which any weight can be had again, exactly.

`record` runs a model over a text and keeps a `Trace`: its token lines, of each layer q, k, v, lse and mask, and a few
measures of every head, in memory that grows with the text. `Trace.weights` and `Trace.pooled` give any part of the
weights back; `Trace.save` and `load_trace` keep one in a file. Any model that can be recorded is a `TextModel`:
`OwnModel` for those in NumPy, `TransformersModel` for those of transformers. This room imports models and the rooms
below it; safetensors, and what records models of transformers, load inside functions.
"""

from __future__ import annotations

from eyeline.traces.errors import Cancelled, TraceError
from eyeline.traces.folders import open_model
from eyeline.traces.keep import Keep
from eyeline.traces.layer_trace import LayerTrace
from eyeline.traces.model_choice import text_model
from eyeline.traces.recording import record, record_text, record_tokens
from eyeline.traces.sizes import Sizes
from eyeline.traces.text_model import ReadText, TextModel
from eyeline.traces.tokenized_text import TokenizedText
from eyeline.traces.trace import Trace
from eyeline.traces.trace_file import load_trace

__all__ = [
    "Cancelled",
    "Keep",
    "LayerTrace",
    "ReadText",
    "Sizes",
    "TextModel",
    "TokenizedText",
    "Trace",
    "TraceError",
    "load_trace",
    "open_model",
    "record",
    "record_text",
    "record_tokens",
    "text_model",
]

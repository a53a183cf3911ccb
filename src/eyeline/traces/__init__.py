"""Traces of runs: the queries, keys and log-sum-exps of every layer, from which any weight is computed exactly.

`record` runs a model over a text and returns a `Trace`: its tokens, each layer's q, k, v, lse and mask, and summary
numbers of every head, in memory linear in the length of the text. `Trace.weights` and `Trace.pooled` compute any part
of the weights; `Trace.save` and `load_trace` write and read a file. Every model that can be recorded is a `TextModel`:
`OwnModel` for those in NumPy, `TransformersModel` for those of transformers. This room imports models and the rooms
below it; safetensors and `eyeline.huggingface` load inside functions.
"""

from __future__ import annotations

from eyeline.traces.averaging import mean_outputs
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
    "mean_outputs",
    "open_model",
    "record",
    "record_text",
    "record_tokens",
    "text_model",
]

"""Real models: Transformer encoders and decoders on NumPy arrays, with the loading and fetching of their weights.

`load` takes a name of the catalogue or a folder (config.json, model.safetensors, tokenizer.json) and returns a `Model`,
which tokenizes text, runs the tokens, and, if it is a decoder, generates more. `embed` makes a vector of each of many
texts. `encoder` and `decoder` are the textbook's layers; their products, with what follows each, and their norms are
`eyeline.kernels`'. This room imports NumPy, `eyeline.calls` and the rooms below it; tokenizers, safetensors and
platformdirs load inside functions, torch and transformers never. Nothing is unpickled, and no code that comes with a
model is run.
"""

from __future__ import annotations

from eyeline.models.embedding import Embedded, embed
from eyeline.models.errors import ModelError
from eyeline.models.generating import Step
from eyeline.models.loading import load
from eyeline.models.model import Model
from eyeline.models.run import Layer, Run
from eyeline.models.tokens import Tokens

__all__ = ["Embedded", "Layer", "Model", "ModelError", "Run", "Step", "Tokens", "embed", "load"]

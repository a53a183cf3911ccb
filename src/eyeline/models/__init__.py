"""Real models: Transformer encoders and decoders in plain NumPy, and where their weights come from.

`load` takes a name of the catalogue or a folder (config.json, model.safetensors, tokenizer.json) and gives a `Model`,
which cuts text into tokens and runs them, and if it is a decoder, goes on with them. This room imports NumPy,
`eyeline.calls` and the rooms above it; tokenizers, safetensors and platformdirs load inside functions, torch and
transformers never. Nothing is unpickled and no code that comes with a model is run.
"""

from __future__ import annotations

from eyeline.models.errors import ModelError
from eyeline.models.generating import Step
from eyeline.models.loading import load
from eyeline.models.model import Model
from eyeline.models.run import Layer, Run
from eyeline.models.tokens import Tokens

__all__ = ["Layer", "Model", "ModelError", "Run", "Step", "Tokens", "load"]

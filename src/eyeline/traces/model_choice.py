"""Turn the argument `model` into a `TextModel`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from eyeline.models import Model
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.traces.errors import TraceError
from eyeline.traces.folders import open_model
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder
from eyeline.traces.own_model import OwnModel
from eyeline.traces.text_model import AnyModel, TextModel
from eyeline.traces.transformers_model import TransformersModel
from eyeline.words import worded


def text_model(
    model: AnyModel,
    tokenizer: Any = None,
    *,
    kind: str | None = None,
    target: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> TextModel:
    """Make a `TextModel` from a name, a folder or a loaded model.

    Args:
        model: a name from the catalogue, a folder, a loaded model of Eyeline's, or a model of transformers 5.
        tokenizer: the tokenizer of a model of transformers.
        kind: for an encoder-decoder, the part to record: "encoder", the text's self-attention (the default), or
            "decoder", the answer's.
        target: the answer, for an encoder-decoder with kind="decoder"; the model's own if not given.
        progress: called with a line of text at each step of fetching or loading a model.

    Raises:
        TraceError: if an argument is given that the model doesn't take, or one that it needs is missing.
        ModelError: if the model is unknown or its files are invalid.
    """
    if isinstance(model, (str, os.PathLike)):
        opened = open_model(model, progress)
        if isinstance(opened, Model):
            own = _own(opened, tokenizer, kind, target)
            # Opened anew by each question, it is still the same model: what depends on no text is computed once.
            own.identity = _files(opened.source)
            return own
        return TransformersModel(opened[0], opened[1] if tokenizer is None else tokenizer, kind, target, str(model))
    if hasattr(model, "named_modules"):  # torch's
        return TransformersModel(model, tokenizer, kind, target)
    if not isinstance(model, Model):
        raise TraceError(
            worded(
                "model must be a model's name, a folder, or a loaded model, got {type}; of a pipeline of "
                "transformers, give pipeline.model and tokenizer=pipeline.tokenizer",
                type=type(model).__name__,
            )
        )
    return _own(model, tokenizer, kind, target)


def _own(model: Model, tokenizer: Any, kind: str | None, target: str | None) -> OwnModel | OwnEncoderDecoder:
    if isinstance(model.network, EncoderDecoder):
        _only_transformers(tokenizer=tokenizer)
        return OwnEncoderDecoder(model, kind, target)
    _only_transformers(tokenizer=tokenizer, kind=kind, target=target)
    return OwnModel(model)


@dataclass(frozen=True)
class ModelFiles:
    """A model's files as they were when it was opened: the name, size and time of change of each."""

    folder: Path
    files: tuple[tuple[str, int, int], ...]


def _files(folder: Path) -> ModelFiles:
    found = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".safetensors"))
    stats = [(path.name, path.stat()) for path in found]
    return _kept(ModelFiles(folder, tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)))


@lru_cache(maxsize=8)
def _kept(files: ModelFiles) -> ModelFiles:
    """The first of equal records, kept alive for the caches that hold it weakly."""
    return files


def _only_transformers(**given: object) -> None:
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise TraceError(
            worded(
                "{names} must be left out with a model that isn't of transformers",
                names=f" {worded('and')} ".join(names),
            )
        )

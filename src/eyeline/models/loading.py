"""Loading a model, from a folder or by its name in the catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from eyeline.models.catalogue import CATALOGUE, unknown
from eyeline.models.checkpoints import check_folder
from eyeline.models.copies import find
from eyeline.models.errors import ModelError
from eyeline.models.model import Model
from eyeline.models.network import read_network
from eyeline.models.tokenizing import read_tokenizer
from eyeline.words import worded


def load(name: str | os.PathLike[str] = "minilm", *, progress: Callable[[str], None] | None = None) -> Model:
    """Load a model by its name in the catalogue or from a folder. A known model is fetched on first use.

    Args:
        name: a name of the catalogue ("minilm"), or a folder with config.json, model.safetensors and tokenizer.json.
        progress: called with a line of text at each step of a fetch.

    Returns:
        The model, ready to run.

    Raises:
        ModelError: if the name is unknown, the model can't be fetched, or a file is missing, damaged or of another
            model.

    >>> model = load("minilm")
    >>> tokens = model.tokens("Time flies!")
    >>> tokens.pieces
    ['[CLS]', 'time', 'flies', '!', '[SEP]']
    >>> run = model.run([tokens.ids], weights=True)
    >>> run.hidden_states[-1].shape, run.layers[-1].weights.shape
    ((1, 5, 384), (1, 12, 5, 5))
    """
    folder = _folder(name, progress)
    check_folder(folder)
    config, network = read_network(folder)
    tokenizer = read_tokenizer(folder / "tokenizer.json", config.vocabulary_size)
    return Model(os.fspath(name), config, folder, network, tokenizer)


def _folder(name: str | os.PathLike[str], progress: Callable[[str], None] | None) -> Path:
    if isinstance(name, str) and name in CATALOGUE:
        found = find(CATALOGUE[name])
        if found is None:
            from eyeline.models.fetching import fetch

            return fetch(CATALOGUE[name], progress)
        if found.fault is not None:
            raise ModelError(
                worded(
                    "{name} in {folder} ({where}) is damaged: {fault}; {remedy}",
                    name=name,
                    folder=found.folder,
                    where=found.where,
                    fault=found.fault,
                    remedy=CATALOGUE[name].remedy,
                )
            )
        return found.folder
    if not isinstance(name, (str, os.PathLike)):
        raise ModelError(worded("name must be a model's name or the path of its folder, got {name!r}", name=name))
    path = os.path.expanduser(os.fspath(name))
    if os.path.basename(path) == path and not os.path.exists(path):
        raise ModelError(unknown(path))
    return Path(path)

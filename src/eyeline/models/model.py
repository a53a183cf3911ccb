"""A model that can be run: a tokenizer and an encoder, from a folder or from the catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks import Lengths, Mask
from eyeline.models.catalogue import CATALOGUE, find, unknown
from eyeline.models.checkpoints import Config, check_folder, read_config
from eyeline.models.encoder import Encoder, read_encoder
from eyeline.models.errors import ModelError
from eyeline.models.run import Layer, Run
from eyeline.models.tokens import Tokens, read_tokenizer, tokenize
from eyeline.readouts import Readout, Weights


class Model:
    """A Transformer encoder and its tokenizer. Made by `load`.

    Attributes:
        name: what it was asked for by.
        config: its sizes.
        source: the folder that it was read from.
    """

    def __init__(self, name: str, config: Config, source: Path, encoder: Encoder, tokenizer: Any) -> None:
        self.name = name
        self.config = config
        self.source = source
        self._encoder = encoder
        self._tokenizer = tokenizer

    def __repr__(self) -> str:
        size = f"{self.config.layers} layers, {self.config.heads} heads, width {self.config.width}"
        return f"<Model {self.name}: {self.config.model_type}, {size}>"

    def tokens(self, text: str) -> Tokens:
        """`text` as tokens, [CLS] and [SEP] (or what the model has in their place) around it. Nothing is ever cut off.

        Raises:
            ModelError: if the text isn't valid Unicode.
        """
        return tokenize(self._tokenizer, text, self.config.vocabulary_size)

    def run(
        self,
        ids: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        mask: Mask | None = None,
        scale: float | None = None,
        weights: bool = False,
    ) -> Run:
        """Run the model on a batch of token ids.

        Args:
            ids: (B, N) whole numbers, 0 to vocabulary size - 1.
            lengths: the real number of tokens of each text, (B,), where the batch is padded at its end.
            mask: where a token may look, beside what `lengths` says; everywhere if not given.
            scale: what scores are multiplied by; 1/√(head width), as the model was trained, if not given.
            weights: whether to keep every layer's weights, (B, H, N, N) each.

        Returns:
            `Run`: the hidden states and what happened in each layer. Rows of padded tokens mean nothing.

        Raises:
            ModelError: if there are more tokens than the model has positions.
            ValueError: if ids aren't whole numbers within the vocabulary, or lengths don't fit them.
        """
        array, mask = self._checked(ids), self._seen(ids, lengths, mask)
        states = [self._encoder.embeddings(array)]
        layers = []
        for layer in self._encoder.layers(states[0], mask, scale, [Weights()] if weights else []):
            states.append(layer.state)
            layers.append(layer)
        return Run(tuple(states), tuple(layers))

    def layers(
        self,
        ids: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        mask: Mask | None = None,
        scale: float | None = None,
        read: Readout | Sequence[Readout] = (),
    ) -> Iterator[Layer]:
        """Run the model layer by layer, keeping nothing of those before: for long texts.

        Args:
            ids, lengths, mask, scale: as for `run`.
            read: what to read of every layer's weights; see `eyeline.observe`.

        Yields:
            Each `Layer` as it is done.

        Raises:
            ModelError, ValueError: as `run`; and as `eyeline.observe` for `read`.

        >>> from eyeline import Entropy
        >>> model = load("minilm")
        >>> seen = model.layers([model.tokens("Time flies!").ids], read=Entropy())
        >>> [round(layer.seen.entropy.mean().item(), 1) for layer in seen]
        [1.0, 0.6, 0.6, 0.8, 0.5, 0.6]
        """
        array, mask = self._checked(ids), self._seen(ids, lengths, mask)
        asked: Any = read if isinstance(read, Sequence) else [read]
        return self._encoder.layers(self._encoder.embeddings(array), mask, scale, asked)

    def _seen(self, ids: ArrayLike, lengths: ArrayLike | None, mask: Mask | None) -> Mask | None:
        """Where tokens may look: the mask that was asked for, without padding."""
        if lengths is None:
            return mask
        real, B = np.asarray(lengths), len(np.asarray(ids))
        if real.shape != (B,):
            raise ValueError(f"lengths must be {B} whole numbers, one per row of ids, got shape {real.shape}")
        padding = Lengths(real)
        return padding if mask is None else mask & padding

    def _checked(self, ids: ArrayLike) -> NDArray[np.int64]:
        try:
            array = np.asarray(ids)
        except ValueError:
            raise ValueError(
                "ids must be rows of one length, got rows of several; pad them and give lengths="
            ) from None
        if array.ndim != 2 or not array.size:
            raise ValueError(f"ids must be (texts, tokens), at least one of each, got shape {array.shape}")
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"ids must be whole numbers, got {array.dtype}")
        size = self.config.vocabulary_size
        low, high = int(array.min()), int(array.max())
        if low < 0 or high >= size:
            raise ValueError(
                f"ids must be from 0 to {size - 1}, got {low if low < 0 else high}; use this model's own tokens()"
            )
        if array.shape[1] > self.config.positions:
            raise ModelError(
                f"{self.name} has {self.config.positions} positions, got {array.shape[1]} tokens, special ones "
                f"included; give it a shorter text, or take a model with more positions"
            )
        return array.astype(np.int64)


def load(name: str | os.PathLike[str] = "minilm", *, progress: Callable[[str], None] | None = None) -> Model:
    """A model by its name in the catalogue or by its folder. A known one that isn't here yet is fetched, once.

    Args:
        name: a name of the catalogue ("minilm"), or a folder with config.json, model.safetensors and tokenizer.json.
        progress: called with a line of text at each step of a fetch.

    Returns:
        The model, ready to run.

    Raises:
        ModelError: if the name is unknown, it can't be fetched, or a file is missing, damaged or of another model.

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
    config = read_config(folder)
    encoder = read_encoder(folder / "model.safetensors", config)
    tokenizer = read_tokenizer(folder / "tokenizer.json", config.vocabulary_size)
    return Model(os.fspath(name), config, folder, encoder, tokenizer)


def _folder(name: str | os.PathLike[str], progress: Callable[[str], None] | None) -> Path:
    if isinstance(name, str) and name in CATALOGUE:
        found = find(CATALOGUE[name])
        if found is None:
            from eyeline.models.fetching import fetch

            return fetch(CATALOGUE[name], progress)
        if found.fault is not None:
            raise ModelError(
                f"{name} in {found.folder} ({found.where}) is damaged: {found.fault}; "
                f"`eyeline models get {name}` fetches it anew"
            )
        return found.folder
    if not isinstance(name, (str, os.PathLike)):
        raise ModelError(f"name must be a model's name or the path of its folder, got {name!r}")
    path = os.path.expanduser(os.fspath(name))
    if os.path.basename(path) == path and not os.path.exists(path):
        raise ModelError(unknown(path))
    return Path(path)

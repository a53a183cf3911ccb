"""A model: a tokenizer and a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.edits import Edit, ModelEdits
from eyeline.masks import Mask, Padding
from eyeline.models.checked_ids import checked_ids, in_vocabulary, real_lengths
from eyeline.models.config import Config
from eyeline.models.continuing import Continuation
from eyeline.models.decoder import Decoder
from eyeline.models.decoder_config import DecoderConfig
from eyeline.models.errors import ModelError
from eyeline.models.generating import Choice, GenerationPass, Step, check_count, passes
from eyeline.models.network import Network
from eyeline.models.run import Layer, Run
from eyeline.models.sites import model_edits
from eyeline.models.tokenizing import tokenize, unknown_id
from eyeline.models.tokens import Tokens
from eyeline.readouts import Readout, Weights
from eyeline.words import worded


class Model:
    """A Transformer, encoder or decoder, and its tokenizer. Made by `load`.

    Attributes:
        name: the name or folder that the user gave.
        config, source: its configuration, and the folder of its files.
        network: its layers, an `Encoder` or a `Decoder`.
        tokenizer: of the tokenizers library.
    """

    def __init__(self, name: str, config: Config, source: Path, network: Network, tokenizer: Any) -> None:
        self.name = name
        self.config = config
        self.source = source
        self.network = network
        self.tokenizer = tokenizer

    def __repr__(self) -> str:
        size = f"{self.config.layers} layers, {self.config.heads} heads, width {self.config.width}"
        return f"<Model {self.name}: {self.config.model_type}, {size}>"

    def tokens(self, text: str) -> Tokens:
        """Tokenize `text`, and add the special tokens that the model needs around it ([CLS], [SEP]). Nothing is
        truncated.

        Raises:
            ModelError: if the text isn't valid Unicode.
        """
        return tokenize(self.tokenizer, text, self.config.vocabulary_size, self.unknown)

    @cached_property
    def unknown(self) -> int | None:
        """The id of the token for what the vocabulary lacks; None if there is none."""
        return unknown_id(self.tokenizer)

    def text(self, ids: ArrayLike) -> str:
        """Token ids, (N,), as text, including special tokens. An incomplete character becomes �.

        >>> from eyeline.models import load
        >>> model = load("smollm2")
        >>> model.text(model.tokens("Café, 1969").ids[:-2])
        'Café, 19'

        Raises:
            ValueError: if ids aren't whole numbers within the vocabulary.
        """
        array = np.atleast_1d(np.asarray(ids))
        if not array.size:
            return ""
        (checked,) = in_vocabulary(self.config, array[None])
        return str(self.tokenizer.decode(checked.tolist(), skip_special_tokens=False))

    def continuation(self, tokens: Tokens) -> Continuation:
        """A `Continuation` of a text, which takes generated tokens one by one and returns them as text.

        >>> from eyeline.models import load
        >>> model = load("smollm2")
        >>> said = model.continuation(model.tokens("The capital of France is"))
        >>> [said.add(id) for id in model.tokens(" in Việt Nam").ids]
        [' in', ' Vi', '', 'ệ', 't', ' Nam']
        """
        return Continuation(self.tokenizer, tokens)

    def embed(self, ids: ArrayLike) -> NDArray[np.float32]:
        """The tokens' embeddings, before any layer: ids (B, N) → (B, N, width). Raises as `run`."""
        return self.network.embed(checked_ids(ids, self.name, self.config))

    def run(
        self,
        ids: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        mask: Mask | None = None,
        scale: float | None = None,
        weights: bool = False,
        edits: ModelEdits | Sequence[Edit] | Edit = (),
    ) -> Run:
        """Run the model on a batch of token ids.

        Args:
            ids: (B, N) whole numbers, 0 to vocabulary size - 1.
            lengths: the real number of tokens of each text, (B,), if the batch is padded at the end.
            mask: where a token may look, in addition to the padding; everywhere if not given. In a decoder, attention
                is causal in any case.
            scale: the factor of the scores; 1/√(head width), as the model was trained, if not given.
            weights: whether to keep every layer's attention weights, (B, H, N, N) each.
            edits: what is changed in some heads (`eyeline.edits`); positions count each text's tokens from 0.

        Returns:
            `Run`: the hidden states and each layer's attention. Rows of padded tokens are meaningless.

        Raises:
            ModelError: if there are more tokens than the model has positions.
            ValueError: if ids aren't whole numbers within the vocabulary, lengths don't fit them, or the model hasn't
                an edit's layer or head.
        """
        read = [Weights()] if weights else []
        layers = tuple(self.layers(ids, lengths=lengths, mask=mask, scale=scale, read=read, edits=edits))
        return Run((self.embed(ids), *(layer.state for layer in layers)), layers)

    def layers(
        self,
        ids: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        mask: Mask | None = None,
        scale: float | None = None,
        read: Readout | Sequence[Readout] = (),
        edits: ModelEdits | Sequence[Edit] | Edit = (),
    ) -> Iterator[Layer]:
        """Run the model layer by layer, without keeping earlier layers: for long texts.

        Args:
            ids, lengths, mask, scale, edits: as for `run`.
            read: the readouts of every layer's weights; see `eyeline.observe`.

        Yields:
            Each `Layer` as it is computed.

        Raises:
            ModelError, ValueError: as `run`; and as `eyeline.observe` for `read`.

        >>> from eyeline import Entropy
        >>> from eyeline.models import load
        >>> model = load("minilm")
        >>> seen = model.layers([model.tokens("Time flies!").ids], read=Entropy())
        >>> [round(layer.seen.entropy.mean().item(), 1) for layer in seen]
        [1.0, 0.6, 0.6, 0.8, 0.5, 0.6]
        """
        array, real = checked_ids(ids, self.name, self.config), real_lengths(ids, lengths)
        if real is not None:
            mask = Padding(real) if mask is None else mask & Padding(real)
        readouts: Any = read if isinstance(read, Sequence) else [read]
        changes = model_edits(edits, self.config, real)
        return self.network.layers(self.network.embed(array), mask, scale, readouts, edits=changes)

    def logits(self, state: ArrayLike) -> NDArray[np.float32]:
        """A decoder's logits of the next token, from the tokens' vectors after the last layer.

        Args:
            state: (..., width), rows of the last layer's `state`; for long texts, pass only the rows of interest, since
                each gives as many numbers as the vocabulary has tokens.

        Returns:
            (..., vocabulary size): their softmax is the probability of each token.

        Raises:
            ModelError: if the model is an encoder.
            ValueError: if state has another width.
        """
        decoder = self.decoder()[0]
        array = np.asarray(state, np.float32)
        if array.shape[-1:] != (self.config.width,):
            raise ValueError(
                worded("state must be (..., {width}), got shape {shape}", width=self.config.width, shape=array.shape)
            )
        return decoder.logits(array)

    def generate(
        self,
        ids: ArrayLike,
        count: int,
        *,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        read: Readout | Sequence[Readout] = (),
        edits: ModelEdits | Sequence[Edit] | Edit = (),
    ) -> Iterator[Step]:
        """Generate tokens after a text: the likeliest each time, or drawn at random.

        Args:
            ids: the tokens of one text, (N,) or (1, N).
            count: the most tokens to generate; generation stops after the model's end-of-text token.
            temperature: the divisor of the logits before a token is drawn; 0 takes the likeliest.
            top_k: draw only from this many likeliest tokens.
            top_p: draw only from the likeliest tokens that together have this probability.
            seed: of the draw: the same seed draws the same tokens.
            read: the readouts of each step's weights; see `eyeline.observe`.
            edits: as for `run`, of every pass; positions count from the text's first token.

        Yields:
            A `Step` for each token as it is chosen. Keys and values are cached, so each step costs one token's work.

        Raises:
            ModelError: if the model is an encoder, or has too few positions for ids.
            ValueError: if ids, count or another argument is out of its range.

        >>> from eyeline.models import load
        >>> model = load("smollm2")
        >>> steps = list(model.generate(model.tokens("The capital of France is").ids, 2))
        >>> model.text([step.id for step in steps]), round(steps[0].probability, 2)
        (' Paris.', 0.77)
        """
        readouts: Any = read if isinstance(read, Sequence) else [read]
        choice = Choice(temperature, top_k, top_p, seed)
        running = self.generation_passes(ids, count, choice, read=readouts, edits=edits)
        return (Step(one.chosen, one.probability, one.layers) for one in running if one.chosen is not None)

    def generation_passes(
        self,
        ids: ArrayLike,
        count: int,
        choice: Choice,
        *,
        read: Sequence[Readout] = (),
        whole: bool = False,
        edits: ModelEdits | Sequence[Edit] | Edit = (),
    ) -> Iterator[GenerationPass]:
        """Generation, pass by pass: for a record of all that ran.

        Args:
            ids, count, edits: as for `generate`.
            choice: how tokens are chosen.
            read: the readouts for passes of one token.
            whole: whether to run the last new token too, so that every token goes through the model once.

        Yields:
            The prompt without its last token in one pass, if it has several, then one token at a time.

        Raises:
            ModelError, ValueError: as `generate`.
        """
        decoder, config = self.decoder()
        array = checked_ids(np.atleast_2d(np.asarray(ids)), self.name, self.config)
        if len(array) != 1:
            raise ValueError(
                worded(
                    "ids must be the tokens of one text, got {count} texts; go on with each by itself", count=len(array)
                )
            )
        count = check_count(count, array.shape[1] + whole, config.positions, self.name)
        changes = model_edits(edits, config)
        return passes(decoder, array, count, choice, config.ends, read, whole, changes)

    def decoder(self) -> tuple[Decoder, DecoderConfig]:
        """The network and its configuration, if it is a decoder with an output matrix."""
        if not isinstance(self.network, Decoder) or not isinstance(self.config, DecoderConfig):
            raise ModelError(
                worded(
                    "{name} must be a decoder to say what comes next, got an encoder ({model_type}); take one "
                    "such as smollm2",
                    name=self.name,
                    model_type=self.config.model_type,
                )
            )
        if self.network.unembedding is None:
            raise ModelError(
                worded(
                    "{source} has no tensor lm_head.weight, which says what comes next; get the model again, as "
                    "AutoModelForCausalLM saves it",
                    source=self.source / "model.safetensors",
                )
            )
        return self.network, self.config

"""Record Eyeline's own models, which run in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Edit, Kind, ModelEdits, names
from eyeline.masks import Causal, Mask
from eyeline.models import Layer, Model, Tokens
from eyeline.models.decoder_config import DecoderConfig
from eyeline.models.generating import Choice, GenerationPass
from eyeline.models.model_positions import positions_of
from eyeline.models.vocabulary import Vocabulary
from eyeline.readouts.observation import Observation
from eyeline.traces.edited_layers import LayersOfText, found_edits
from eyeline.traces.errors import Cancelled
from eyeline.traces.inputs import InputRecorder
from eyeline.traces.keep import Keep
from eyeline.traces.measures import asked, measures
from eyeline.traces.sizes import Sizes
from eyeline.traces.text_model import Continued, ReadText
from eyeline.traces.tokenized_text import of_tokens
from eyeline.traces.trace import Trace


class OwnModel:
    """One of Eyeline's models, as a `TextModel`."""

    kind: None = None
    state = 0

    def __init__(self, model: Model) -> None:
        self.model = model
        self.identity: object = model
        config = model.config
        self.name, self.family = model.name, config.model_type
        self.layers, self.heads = config.layers, config.heads
        self.positions, self.vocabulary_size = config.positions, config.vocabulary_size

    def read(self, text: str) -> ReadText:
        """Tokenize a text for the model."""
        return ReadText(self.model.tokens(text))

    def text_of(self, id: int) -> str:
        """A token's text."""
        return self.model.text([id])

    def with_tokens(self, tokens: Tokens, like: ReadText) -> ReadText:
        """A copy of a read text with other tokens."""
        return ReadText(tokens)

    def generates(self) -> bool:
        """Whether the model is a decoder."""
        return self.model.config.causal

    def record(
        self,
        text: ReadText,
        keep: Keep,
        *,
        mask: Mask | None = None,
        scale: float | None = None,
        edits: Sequence[Edit] = (),
        cancelled: Callable[[], bool] | None = None,
        layer_done: Callable[[int, int], None] | None = None,
    ) -> Trace:
        """Run the model once over a text; see `TextModel.record`."""
        model, tokens, config = self.model, text.tokens, self.model.config
        if config.causal and mask == Causal():
            mask = None  # the model is causal anyway
        changes = found_edits(edits, model, tokens)
        line = of_tokens(tokens, causal=config.causal, prompt=text.prompt)
        kept, seen, vectors = [], [], []
        places = keep.positions(len(tokens))
        if places is not None:
            vectors.append(model.embed([tokens.ids])[0, places])
        inputs = InputRecorder(model.network, tokens.ids) if keep.input else None
        state = model.embed([tokens.ids])[0] if keep.input else None
        measured = asked(line, None) if keep.measures else []
        running = model.layers(
            [tokens.ids], mask=mask, scale=scale, read=[*(measured or keep.read)], edits=changes or ()
        )
        by = 1 / config.head_dim**0.5 if scale is None else float(scale)
        layers = LayersOfText(keep, by, changes, self._kind_of_edits())
        for number in range(config.layers):
            if cancelled is not None and cancelled():
                raise Cancelled
            layer = next(running)
            kept.append(layers.kept(number, layer))
            seen.append(replace(layer.seen, output=layer.output[:, :, :0].copy()))
            if places is not None:
                vectors.append(layer.state[0, places])
            if inputs is not None and state is not None:
                inputs.add(state, layer.output[0])
                state = layer.state[0]
            if layer_done is not None:
                layer_done(number + 1, config.layers)
        read = tuple(seen) if keep.read else ()
        return Trace(
            name_of(mask, scale, edits),
            self._sizes(keep),
            self._kind(),
            line,
            None,
            tuple(kept),
            measures(seen) if measured else None,
            np.stack(vectors) if vectors else None,
            tuple(places or ()),
            tuple(layer.observe(keep.read) for layer in kept) if measured and keep.read else read,
            None if inputs is None else inputs.kept(keep.heads),
            self._vocabulary if vectors else None,
            positions_of(model.network),
            edits=() if changes is None else changes.edits,
            network=model.network,
        )

    def go_on(
        self,
        text: ReadText,
        count: int,
        choice: Choice,
        keep: Keep,
        said: Callable[[str], None] | None,
        edits: Sequence[Edit] = (),
    ) -> Continued:
        """Generate text; every token goes through the model once."""
        model, config = self.model, self.model.config
        assert isinstance(config, DecoderConfig)
        changes = found_edits(edits, model, text.tokens)
        continuation = model.continuation(text.tokens)
        passes: list[GenerationPass] = []
        for one in model.generation_passes(text.tokens.ids, count, choice, whole=True, edits=changes or ()):
            passes.append(one)
            if one.chosen is not None:
                new = continuation.add(one.chosen)
                if said is not None:
                    said(new)
        tokens, prompt = continuation.tokens, len(text.tokens)
        return Continued(
            ReadText(tokens, prompt=prompt),
            tuple(one.probability for one in passes if one.chosen is not None),
            tokens.ids[-1] in config.ends,
            self._of_passes(passes, tokens, prompt, keep, changes, name_of(None, None, edits)),
        )

    def _of_passes(
        self,
        passes: Sequence[GenerationPass],
        tokens: Tokens,
        prompt: int,
        keep: Keep,
        changes: ModelEdits | None,
        name: str,
    ) -> Trace:
        """Make the trace of a text that went through the model in several passes."""
        config, N = self.model.config, len(tokens)
        inputs = InputRecorder(self.model.network, tokens.ids) if keep.input else None
        state = self.model.embed([tokens.ids])[0]
        layers = LayersOfText(keep, 1 / config.head_dim**0.5, changes, "decoder self")
        kept = []
        for number in range(config.layers):
            parts = [one.layers[number] for one in passes]
            last = parts[-1]
            whole = Layer(
                np.concatenate([part.q for part in parts], axis=2),
                last.k,
                last.v,
                Observation(last.output, np.concatenate([part.lse for part in parts], axis=2)),
                last.state,
                last.mask,
            )
            kept.append(layers.kept(number, whole))
            if inputs is not None:
                inputs.add(state, np.concatenate([part.output[0] for part in parts], axis=1))
                state = np.concatenate([part.state[0] for part in parts])
        places = keep.positions(N)
        vectors: NDArray[np.float32] | None = None
        if places is not None:
            states = [self.model.embed([tokens.ids])]
            states += [
                np.concatenate([one.layers[number].state for one in passes], axis=1) for number in range(config.layers)
            ]
            vectors = np.stack([state[0, places] for state in states])
        line = of_tokens(tokens, causal=config.causal, prompt=prompt)
        return Trace(
            name,
            self._sizes(keep),
            self._kind(),
            line,
            None,
            tuple(kept),
            vectors=vectors,
            vector_tokens=tuple(places or ()),
            inputs=None if inputs is None else inputs.kept(keep.heads),
            vocabulary=None if vectors is None else self._vocabulary,
            placing=positions_of(self.model.network),
            edits=() if changes is None else changes.edits,
            network=self.model.network,
        )

    @cached_property
    def _vocabulary(self) -> Vocabulary | None:
        """The words of the vocabulary; None if their embeddings have another width than the layers."""
        words = self.model.network.words
        width = words.stored.shape[1]
        return Vocabulary(self.model.tokenizer, words, width) if width == self.model.config.width else None

    def _sizes(self, keep: Keep) -> Sizes:
        config = self.model.config
        E = config.head_dim if keep.values else 0
        return Sizes(self.name, self.layers, self.heads, config.key_heads, config.head_dim, E, self.positions)

    def _kind(self) -> Literal["encoder", "decoder"]:
        return "decoder" if self.model.config.causal else "encoder"

    def _kind_of_edits(self) -> Kind:
        return "decoder self" if self.model.config.causal else "encoder self"


def name_of(mask: Mask | None, scale: float | None, edits: Sequence[Edit] = ()) -> str:
    """The name of a run, from its changes.

    >>> from eyeline.edits import Gate
    >>> name_of(Causal(), 1.0), name_of(None, None), name_of(None, None, [Gate(layer=5, head=3)])
    ('causal, without ÷ √d', 'as trained', 'gate L5H3 0')
    """
    changes = [] if mask is None else ["causal" if mask == Causal() else repr(mask)]
    changes += [] if scale is None else ["without ÷ √d" if scale == 1 else f"scale {scale:g}"]
    return ", ".join([*changes, *names(edits)]) or "as trained"

"""Record models of transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Edit
from eyeline.masks import Mask
from eyeline.models import Tokens
from eyeline.models.continuing import Continuation
from eyeline.models.generating import Choice, softmax
from eyeline.models.vocabulary import Vocabulary
from eyeline.traces.errors import TraceError
from eyeline.traces.keep import Keep
from eyeline.traces.parts import Parts
from eyeline.traces.text_model import Continued, ReadText
from eyeline.traces.trace import Trace
from eyeline.traces.transformers_edits import edited, edits_found
from eyeline.traces.transformers_sizes import layers_and_heads, positions, size
from eyeline.traces.transformers_tokens import decoder_ids, read, read_any, reread
from eyeline.traces.transformers_traces import (
    KINDS,
    before_each,
    calls_of,
    is_encoder_decoder,
    name_of_model,
    trace_of_calls,
)
from eyeline.words import worded


class TransformersModel:
    """A model of transformers and its tokenizer, as a `TextModel`.

    Args:
        model: the model, in evaluation mode, or a module that contains one.
        tokenizer: its tokenizer.
        kind: for an encoder-decoder, "encoder" (the default: the text's self-attention) or "decoder" (the answer's).
        target: the answer, for an encoder-decoder with kind="decoder"; the model's own if not given.
        name: the model's name; by default from its configuration.
    """

    def __init__(
        self, model: Any, tokenizer: Any, kind: str | None = None, target: str | None = None, name: str | None = None
    ) -> None:
        from eyeline.huggingface.errors import check_installed

        check_installed()
        from eyeline.huggingface.model_inputs import the_model

        self.model = self.identity = the_model(model)
        self._tokenizer, self._target = tokenizer, target
        self._both = is_encoder_decoder(self.model)
        self.kind = _checked_kind(kind, self._both)
        if target is not None and (not self._both or self.kind == "encoder"):
            raise TraceError(
                worded(
                    'target must be left out, but for an encoder-decoder with kind="decoder", whose answer it '
                    "is; got {target!r:.40}",
                    target=target,
                )
            )
        config = self.model.config
        sizes = config.get_text_config(decoder=self.kind == "decoder") if self._both else config.get_text_config()
        self.name = name or name_of_model(self.model)
        self.family = str(getattr(config, "model_type", type(self.model).__name__))
        self.layers, self.heads = layers_and_heads(config, sizes, self.kind)
        self.vocabulary_size = size(sizes, "vocab_size")
        self.positions = positions(sizes, tokenizer)

    @property
    def state(self) -> int:
        """A number that changes whenever the model's weights do, or the edits of the blocks that it is in."""
        from eyeline.huggingface.observers import edits_around

        edits = [(id(edit), repr(edit)) for edit in edits_around(self.model)]
        return hash((*((id(weights), weights._version) for weights in self.model.parameters()), *edits))

    def read(self, text: str) -> ReadText:
        """Tokenize a text for the model; with kind="decoder", the answer to it."""
        tokens, inputs = read(text, self._tokenizer)
        if not self._both:
            return ReadText(tokens, inputs)
        if self.kind == "encoder":
            # One token of an answer is enough for the encoder to run.
            from eyeline.huggingface.model_inputs import target_ids

            return ReadText(tokens, {**inputs, "decoder_input_ids": [target_ids(self.model, [0])]})
        from eyeline.huggingface.model_inputs import as_tensors

        ids = decoder_ids(self.model, self._tokenizer, as_tensors(self.model, inputs), self._target)
        return ReadText(reread(ids, self._tokenizer), {**inputs, "decoder_input_ids": [ids]})

    def tokens(self, text: str) -> Tokens:
        """The tokens of any text of valid Unicode, also without a word; nothing is cut off.

        Raises:
            ModelError: if the tokenizer panics.
        """
        return read_any(text, self._tokenizer)[0]

    def text_of(self, id: int) -> str:
        """A token's text; its id where the tokenizer doesn't say."""
        decode = getattr(self._tokenizer, "decode", None)
        return str(id if decode is None else decode([id]))

    def with_tokens(self, tokens: Tokens, like: ReadText) -> ReadText:
        """A copy of a read text with other tokens."""
        ids = [int(id) for id in tokens.ids]
        if self.kind == "decoder" and self._both:
            return ReadText(tokens, {**like.inputs, "decoder_input_ids": [ids]})
        inputs: dict[str, Any] = {"input_ids": [ids], "attention_mask": [[1] * len(ids)]}
        if "decoder_input_ids" in like.inputs:
            inputs["decoder_input_ids"] = like.inputs["decoder_input_ids"]
        return ReadText(tokens, {name: value for name, value in inputs.items() if name in {*like.inputs, "input_ids"}})

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
        if mask is not None or scale is not None:
            raise TraceError(worded("mask and scale must be left out with a model of transformers, which has its own"))
        from eyeline.huggingface.errors import HuggingFaceError
        from eyeline.huggingface.model_inputs import as_tensors

        done = 0

        def next_layer(module: str) -> None:
            nonlocal done
            if layer_done is not None and 0 < done < self.layers:
                layer_done(done, self.layers)
            done += 1

        found = edits_found(edits, self.model, text.tokens)
        try:
            inputs = as_tensors(self.model, text.inputs)
            with edited(self.model, found) as changes:
                calls = calls_of(self.model, inputs, keep, before_each(cancelled, next_layer))
        except HuggingFaceError as error:
            raise TraceError(str(error)) from None
        mine = [call for call in calls if not self._both or KINDS[call.kind] == self.kind]
        kinds = {call.kind for call in mine}
        if len(kinds) != 1:
            raise TraceError(
                worded(
                    "model must have attention of one kind to be asked about a text, got {kinds}", kinds=sorted(kinds)
                )
            )
        if layer_done is not None:
            layer_done(self.layers, self.layers)
        trace = trace_of_calls(
            mine,
            text.tokens,
            None,
            self._both,
            self.name,
            keep,
            positions=self.positions,
            prompt=text.prompt,
            edits=changes,
        )
        return trace if trace.vectors is None else replace(trace, vocabulary=self._vocabulary(trace.vectors.shape[2]))

    @property
    def has_parts(self) -> bool:
        """Whether the model is an encoder-decoder."""
        return self._both

    def record_parts(
        self,
        text: str,
        keep: Keep,
        *,
        target: str | None = None,
        edits: Sequence[Edit] = (),
        cancelled: Callable[[], bool] | None = None,
        layer_done: Callable[[int, int], None] | None = None,
    ) -> Parts:
        """Record the encoder, the decoder and cross-attention; see `RecordsParts`. The rows of the last are the
        decoder's tokens."""
        from eyeline.traces.transformers_parts import record_parts

        answer = self._target if target is None else target
        parts = record_parts(
            self.model, self._tokenizer, text, answer, keep, cancelled, edits, name=self.name, positions=self.positions
        )
        if layer_done is not None:
            layer_done(self.layers, self.layers)
        return parts

    def generates(self) -> bool:
        """Whether the model is a decoder that predicts the next token."""
        return not self._both and bool(self.model.can_generate())

    def go_on(
        self,
        text: ReadText,
        count: int,
        choice: Choice,
        keep: Keep,
        said: Callable[[str], None] | None,
        edits: Sequence[Edit] = (),
    ) -> Continued:
        """Generate text. The result has no trace: recording it takes another pass."""
        from eyeline.huggingface.next_tokens import generate_by

        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise TraceError(
                worded("tokenizer must be a fast one to go on with a text, got one without backend_tokenizer")
            )
        continuation, drawer = Continuation(backend, text.tokens), choice.drawer()
        ends = self._ends()
        probabilities = []

        def choose(logits: NDArray[np.float32]) -> int:
            chosen = choice.of(logits, drawer)
            probabilities.append(float(softmax(logits)[chosen]))
            new = continuation.add(chosen)
            if said is not None:
                said(new)
            return chosen

        with edited(self.model, edits_found(edits, self.model, text.tokens)):
            generate_by(self.model, text.tokens.ids, count, choose, ends)
        tokens = continuation.tokens
        whole = self.with_tokens(tokens, text)
        return Continued(ReadText(tokens, whole.inputs, len(text.tokens)), tuple(probabilities), tokens.ids[-1] in ends)

    def _vocabulary(self, width: int) -> Vocabulary | None:
        """The words of the vocabulary; None without a fast tokenizer, or if their embeddings have another width."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        found = self.model.get_input_embeddings()
        weight = getattr(found, "weight", None)
        if backend is None or weight is None or tuple(weight.shape[1:]) != (width,):
            return None
        return Vocabulary(backend, _TorchRows(weight), width)

    def _ends(self) -> frozenset[int]:
        settings = getattr(self.model, "generation_config", None)
        given = getattr(settings, "eos_token_id", None)
        return frozenset(given if isinstance(given, list) else [] if given is None else [given])


class _TorchRows:
    """Rows of a torch matrix as NumPy arrays."""

    def __init__(self, weight: Any) -> None:
        self._weight = weight

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.asarray(self._weight[rows].detach().float().cpu().numpy())


def _checked_kind(kind: str | None, both: bool) -> str | None:
    if not both:
        if kind is not None:
            raise TraceError(
                worded("kind must be left out with a model that isn't an encoder-decoder, got {kind!r}", kind=kind)
            )
        return None
    if kind == "cross":
        raise TraceError(
            worded(
                "kind must be 'encoder' or 'decoder', got 'cross', whose queries and keys are different "
                "texts; look at it with eyeline.view(eyeline.record(text, model=model, tokenizer=tokenizer))"
            )
        )
    if kind not in (None, "encoder", "decoder"):
        raise TraceError(worded("kind must be 'encoder' or 'decoder', got {kind!r}", kind=kind))
    return kind or "encoder"

"""Record Eyeline's own encoder-decoder, which runs in NumPy: its encoder, its decoder, and cross-attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Edit, ModelEdits, names
from eyeline.masks import Mask
from eyeline.models import Layer, Model, ModelError, Tokens
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.encoder_decoder_config import EncoderDecoderConfig
from eyeline.models.generating import Choice
from eyeline.models.sites import model_edits
from eyeline.traces.edited_layers import LayersOfText
from eyeline.traces.errors import Cancelled, TraceError
from eyeline.traces.finding_words import word_positions
from eyeline.traces.inputs import InputRecorder
from eyeline.traces.keep import Keep
from eyeline.traces.layer_trace import LayerArrays, LayerTrace
from eyeline.traces.letters import check_letters
from eyeline.traces.own_model import OwnModel
from eyeline.traces.parts import Parts
from eyeline.traces.text_model import Continued, ReadText
from eyeline.traces.tokenized_text import TokenizedText, of_tokens
from eyeline.traces.trace import Kind, Trace
from eyeline.words import worded


class OwnEncoderDecoder:
    """Eyeline's encoder-decoder, as a `TextModel`: of its encoder, or of its decoder.

    Args:
        model: the model.
        kind: "encoder" (the default: the text's self-attention) or "decoder" (that of what the model writes).
        target: what the decoder is to have written, with kind="decoder"; what it writes by itself if not given.
    """

    state = 0
    has_parts = True

    def __init__(self, model: Model, kind: str | None = None, target: str | None = None) -> None:
        assert isinstance(model.network, EncoderDecoder)
        assert isinstance(model.config, EncoderDecoderConfig)
        if kind not in (None, "encoder", "decoder"):
            raise TraceError(worded("kind must be 'encoder' or 'decoder', got {kind!r}", kind=kind))
        if target is not None and kind != "decoder":
            raise TraceError(
                worded(
                    'target must be left out without kind="decoder", whose text it is; got {target!r:.40}',
                    target=target,
                )
            )
        self.model = model
        self.identity: object = model
        self.kind: str = kind or "encoder"
        self._network, self._config, self._target = model.network, model.config, target
        self._encoder = OwnModel(model)
        config = model.config
        self.name, self.family, self.heads = model.name, config.model_type, config.heads
        self.layers = config.layers if self.kind == "encoder" else config.decoder_layers
        self.positions, self.vocabulary_size = config.positions, config.vocabulary_size

    def read(self, text: str) -> ReadText:
        """The text's tokens; with kind="decoder", those of what the model writes, which then is the text."""
        tokens = self._known(self.model.tokens(text), "text")
        if self.kind == "encoder":
            return ReadText(tokens)
        return ReadText(self._decoder_tokens(self._written(tokens, self._target)), {"ids": tokens.ids})

    def with_tokens(self, tokens: Tokens, like: ReadText) -> ReadText:
        """A copy of a read text with other tokens."""
        return ReadText(tokens, like.inputs)

    def generates(self) -> bool:
        """Whether the model goes on with a text: it writes another."""
        return False

    def go_on(
        self,
        text: ReadText,
        count: int,
        choice: Choice,
        keep: Keep,
        said: Callable[[str], None] | None,
        edits: Sequence[Edit] = (),
    ) -> Continued:
        """Generate text: refused."""
        raise ModelError(
            worded("model must be a decoder to go on with a text, got {name}, an encoder-decoder", name=self.name)
        )

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
        if self.kind == "encoder":
            changes = self._found(edits, text.tokens, lambda: self._written(text.tokens, self._target))
            trace = self._encoder.record(
                text,
                keep,
                mask=mask,
                scale=scale,
                edits=changes.edits if changes else (),
                cancelled=cancelled,
                layer_done=layer_done,
            )
            # Whoever asks for one part alone reads which it is.
            trace = replace(trace, model=replace(trace.model, name=f"{self.name}, encoder"))
            return replace(trace, name=_name("encoder", edits)) if mask is None and scale is None else trace
        if mask is not None or scale is not None:
            raise TraceError(worded('mask and scale must be left out with kind="decoder", got one of them'))
        if cancelled is not None and cancelled():
            raise Cancelled
        tokens, ids = text.tokens, text.inputs["ids"]
        changes = self._found(edits, self._line(ids), lambda: [*tokens.ids[1:], self._config.end])
        context = self._network.context(np.array([ids]), changes)
        trace = self._decoded(tokens, tokens, context, keep, None, changes, edits)[0]
        trace = replace(trace, model=replace(trace.model, name=f"{self.name}, decoder"))
        if layer_done is not None:
            layer_done(self.layers, self.layers)
        return trace

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
        """Record the encoder, the decoder, and the decoder's look at the encoder's text; see `RecordsParts`.

        Words of edits on the decoder's side are found in the target, or in what the model writes without edits. The
        decoder's tokens are those that it takes: the start, then what it has written. A row of the cross-attention
        is one step, and its token is the one that the step writes.
        """
        tokens = self._known(self.model.tokens(text), "text")
        if not tokens.has_words:
            raise TraceError(worded("text must have at least one word, got {text!r}", text=text[:20]))
        read = OwnEncoderDecoder(self.model)
        target = self._target if target is None else target
        changes = self._found(edits, tokens, lambda: self._written(tokens, target))
        found = changes.edits if changes else ()
        encoder = read.record(ReadText(tokens), keep, edits=found, cancelled=cancelled, layer_done=layer_done)
        encoder = replace(encoder, name=_name("encoder", edits), model=replace(encoder.model, name=self.name))
        written = self._written(tokens, target, changes)
        context = self._network.context(np.array([tokens.ids]), changes)
        inputs, rows = self._decoder_tokens(written), self._line(written)
        decoder, cross = self._decoded(inputs, rows, context, keep, of_tokens(tokens, causal=False), changes, edits)
        return Parts(encoder, decoder, cross, tokens, inputs, rows)

    def _known(self, tokens: Tokens, name: str) -> Tokens:
        """The tokens, checked: every letter is one that the model knows, and there aren't too many."""
        room = self._config.positions if name == "text" else self._config.most_written - 1
        return check_letters(tokens, self.model, room, name)

    def _found(self, edits: Sequence[Edit], tokens: Tokens, written: Callable[[], list[int]]) -> ModelEdits | None:
        """The edits with positions in place of words: of the text's tokens, or of what is written."""
        changes = model_edits(edits, self._config)
        if changes is None:
            return None

        def found(one: Edit) -> Edit:
            def place(word: str, side: Literal["queries", "keys"]) -> list[int]:
                if one.kind == "encoder self" or (one.kind == "cross" and side == "keys"):
                    return word_positions(word, tokens, side)
                ids = written()
                line = self._line(ids) if one.kind == "cross" else self._decoder_tokens(ids)
                return word_positions(word, line, side)

            return one.with_words_found(place)

        return ModelEdits([found(one) for one in changes.edits], changes.sites)

    def _written(self, tokens: Tokens, target: str | None, edits: ModelEdits | None = None) -> list[int]:
        """What the decoder writes, to the end: the target, or its own."""
        config = self._config
        if target is not None:
            return [*self._known(self.model.tokens(target), "target").ids, config.end]
        context = self._network.context(np.array([tokens.ids]), edits)
        return self._network.write(context, config.start, config.end, config.most_written, edits)

    def _decoder_tokens(self, written: Sequence[int]) -> Tokens:
        """The decoder's tokens: the start, and what it has written before the last step."""
        return self._line([self._config.start, *written[:-1]])

    def _line(self, ids: Sequence[int]) -> Tokens:
        pieces = [str(self.model.tokenizer.id_to_token(id)) for id in ids]
        special = [id in (self._config.start, self._config.end) for id in ids]
        texts = ["" if extra else piece for piece, extra in zip(pieces, special, strict=True)]
        ends = accumulate((len(text) for text in texts), initial=0)
        offsets = [(0, 0) if extra else span for span, extra in zip(pairwise(ends), special, strict=True)]
        return Tokens("".join(texts), list(ids), pieces, offsets, special)

    def _decoded(
        self,
        inputs: Tokens,
        rows: Tokens,
        context: NDArray[np.float32],
        keep: Keep,
        keys: TokenizedText | None,
        changes: ModelEdits | None,
        edits: Sequence[Edit],
    ) -> list[Trace]:
        """Run the decoder, and make the trace of its self-attention and, if its keys' text is given, of its
        cross-attention."""
        x = self._network.embed(np.array([inputs.ids]))
        places = keep.positions(len(inputs))
        both = list(self._network.decoder_layers(x, context, changes))
        states = [x, *(own.state for own, _ in both)]
        vectors = None if places is None else np.stack([state[0, places] for state in states])
        queries = of_tokens(inputs, causal=True)
        recorders = self._recorders(inputs.ids, states, both, context) if keep.input else {}
        kept = LayersOfText(keep, both[0][0].q.shape[3] ** -0.5, changes, "decoder self")
        own = [kept.kept(number, layer) for number, (layer, _) in enumerate(both)]
        traces = [self._trace("decoder", own, queries, None, keep, vectors, recorders.get("decoder"))]
        if keys is not None:
            kept = LayersOfText(keep, both[0][1].q.shape[3] ** -0.5, changes, "cross")
            crossed = [kept.kept(number, layer) for number, (_, layer) in enumerate(both)]
            line = of_tokens(rows, causal=False)
            traces.append(self._trace("cross", crossed, line, keys, keep, vectors, recorders.get("cross")))
        return [
            replace(trace, name=_name(trace.name, edits), edits=changes.edits if changes else ()) for trace in traces
        ]

    def _recorders(
        self,
        ids: Sequence[int],
        states: Sequence[NDArray[np.float32]],
        both: Sequence[tuple[Layer, Layer]],
        context: NDArray[np.float32],
    ) -> dict[str, InputRecorder]:
        """What goes into the projections of the decoder's own attention and of its cross-attention, layer by layer."""
        own, crossed = InputRecorder(self._network, ids, "decoder"), InputRecorder(self._network, None, "cross")
        for block, state, (first, second) in zip(self._network.decoder, states, both, strict=False):
            own.add(state[0], first.output[0])
            between = block.attended_norm(block.attended.of_heads(first.output, residual=state))
            crossed.add(between[0], second.output[0], context[0])
        return {"decoder": own, "cross": crossed}

    def _trace(
        self,
        kind: Kind,
        layers: Sequence[LayerTrace],
        queries: TokenizedText,
        keys: TokenizedText | None,
        keep: Keep,
        vectors: NDArray[np.float32] | None,
        inputs: InputRecorder | None,
    ) -> Trace:
        trace = Trace.of_layers(
            [
                LayerArrays(layer.q, layer.k, layer.v, layer.allowed, layer.scale, lse=layer.lse, edits=layer.edits)
                for layer in layers
            ],
            queries,
            keys,
            name=kind,
            model=self.name,
            kind=kind,
            keep=keep,
            positions=self._config.positions,
            vectors=vectors,
        )
        return trace if inputs is None else replace(trace, inputs=inputs.kept(keep.heads))


def _name(part: str, edits: Sequence[Edit]) -> str:
    return ", ".join([part, *names(edits)])


def only_decoder_is_causal(value: object) -> str:
    """The error of a mask or a scale that is given to all parts at once."""
    return worded(
        "mask and scale must be left out with an encoder-decoder, got {value}; its decoder never looks ahead anyway",
        value=value,
    )

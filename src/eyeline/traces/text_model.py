"""The interface of models that take text: Eyeline's own in NumPy, and those of transformers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from eyeline.edits import Edit
from eyeline.masks import Mask
from eyeline.models import Model, Tokens
from eyeline.models.generating import Choice
from eyeline.traces.keep import Keep
from eyeline.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable


class TorchModel(Protocol):
    """A model of transformers: a torch module; this room doesn't import torch."""

    def named_modules(self) -> Iterable[tuple[str, Any]]:
        """The module's parts by their paths."""


#: The types of the argument `model`.
AnyModel = str | os.PathLike[str] | Model | TorchModel


@dataclass(frozen=True)
class ReadText:
    """A text, tokenized for a model.

    Attributes:
        tokens: its tokens, with their spans in the text.
        inputs: the other inputs of a model of transformers.
        prompt: the number of prompt tokens, if the others were generated.
    """

    tokens: Tokens
    inputs: Mapping[str, Any] = field(default_factory=dict)
    prompt: int | None = None


@dataclass(frozen=True)
class Continued:
    """A prompt with its generated continuation.

    Attributes:
        text: the prompt and the continuation.
        probabilities: the probability of each new token, before temperature and top-p.
        ended: whether the last token is an end-of-text token.
        trace: the trace of the run, if generation recorded one; else the text is still to be recorded.
    """

    text: ReadText
    probabilities: tuple[float, ...]
    ended: bool
    trace: Trace | None = None


class TextModel(Protocol):
    """A model and its tokenizer.

    Attributes:
        name: the name or folder that the user gave.
        layers, heads: their numbers in the recorded part of the model.
        positions: the maximum number of tokens; None without a limit.
        vocabulary_size: the number of token ids.
        family: the model type in config.json, such as "bert".
        kind: for an encoder-decoder, the recorded part.
        identity: the model object, or the files that it was opened from: what results that don't depend on a text are
            cached with.
        state: a number that changes whenever the model's weights do.
    """

    @property
    def name(self) -> str: ...
    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def positions(self) -> int | None: ...
    @property
    def vocabulary_size(self) -> int: ...
    @property
    def family(self) -> str: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def identity(self) -> object: ...
    @property
    def state(self) -> int: ...

    def read(self, text: str) -> ReadText:
        """The text as the model takes it."""

    def with_tokens(self, tokens: Tokens, like: ReadText) -> ReadText:
        """A text with other tokens, otherwise like one that was read."""

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
        """Run the model once over a text.

        Args:
            text: as `read` gives it.
            keep: what the trace keeps.
            mask: where tokens may look, in addition to the model's own mask.
            scale: the factor of the scores; as trained if not given.
            edits: what is changed in some heads.
            cancelled: called before each layer; returns whether to stop.
            layer_done: called after each layer with the number of finished layers and of all layers.
        """

    def generates(self) -> bool:
        """Whether the model is a decoder that predicts the next token."""

    def go_on(
        self,
        text: ReadText,
        count: int,
        choice: Choice,
        keep: Keep,
        said: Callable[[str], None] | None,
        edits: Sequence[Edit] = (),
    ) -> Continued:
        """Generate up to `count` tokens; `said` is called with each piece of new text."""

"""The interface of a model that can be asked about a text: Eyeline's own in NumPy, and those of transformers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from eyeline.masks import Mask
from eyeline.models import Model, Tokens
from eyeline.models.generating import Choice
from eyeline.traces.keep import Keep
from eyeline.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable


class TorchModel(Protocol):
    """A model of transformers: a module of torch, which this room doesn't import."""

    def named_modules(self) -> Iterable[tuple[str, Any]]:
        """Its parts by their paths."""


#: What may be given as `model=`.
AnyModel = str | os.PathLike[str] | Model | TorchModel


@dataclass(frozen=True)
class ReadText:
    """A text as a model takes it.

    Attributes:
        tokens: its tokens, with their places in the text.
        inputs: what else a model of transformers is called with.
        prompt: how many of the tokens were given, if the others were generated.
    """

    tokens: Tokens
    inputs: Mapping[str, Any] = field(default_factory=dict)
    prompt: int | None = None


@dataclass(frozen=True)
class Continued:
    """A text that was gone on with.

    Attributes:
        text: the whole of it.
        probabilities: of each new token, among all tokens, before temperature and cuts.
        ended: whether the last token is one that ends a text.
        trace: of the run, where generating left one; else the text is still to be recorded.
    """

    text: ReadText
    probabilities: tuple[float, ...]
    ended: bool
    trace: Trace | None = None


class TextModel(Protocol):
    """A model and its tokenizer.

    Attributes:
        name: the name or folder that the user gave.
        layers, heads: the sizes of the part that is looked into.
        positions: the most tokens that it takes; None if it has no limit.
        vocabulary_size: how many token ids there are.
        family: what config.json calls its kind, such as "bert".
        kind: of an encoder-decoder, the part that is looked into.
        identity: the model itself: results that don't depend on a text are kept for each.
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
        cancelled: Callable[[], bool] | None = None,
        layer_done: Callable[[int, int], None] | None = None,
    ) -> Trace:
        """Run the model once over a text.

        Args:
            text: as `read` gives it.
            keep: what to keep.
            mask: where tokens may look, beside what the model says itself.
            scale: the factor of the scores; as trained if not given.
            cancelled: asked before each layer whether to give up.
            layer_done: called after each layer with how many are done and how many there are.
        """

    def generates(self) -> bool:
        """Whether the model is a decoder that says what comes next."""

    def go_on(
        self, text: ReadText, count: int, choice: Choice, keep: Keep, said: Callable[[str], None] | None
    ) -> Continued:
        """Go on with a text, by up to `count` tokens; `said` is called with each bit of new text."""

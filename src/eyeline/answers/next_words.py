"""What a decoder would say next: the likeliest words with their probabilities, with edits, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Edit
from eyeline.models import Model
from eyeline.models.generating import softmax
from eyeline.models.sites import model_edits
from eyeline.models.tokens import Tokens


@dataclass(frozen=True)
class NextWord:
    """A token that may come next.

    Attributes:
        id: the token.
        text: the text that it adds.
        probability: among all tokens.
    """

    id: int
    text: str
    probability: float


class NextWords:
    """The tokens that may come after a text, as a decoder with edits sees it; `go_on` adds one to the text.

    Args:
        model: a decoder.
        tokens: the text.
        edits: the edits; a word in them must have been replaced by its positions.

    Raises:
        ModelError: if the model is an encoder.
        EditError: if an edit isn't one for this model.

    >>> from eyeline.models import load
    >>> model = load("smollm2")
    >>> said = NextWords(model, model.tokens("The capital of France is"))
    >>> first = said.likeliest(1)[0]
    >>> first.text, round(first.probability, 2)
    (' Paris', 0.77)
    >>> said.go_on(first.id)
    >>> said.likeliest(1)[0].text
    '.'
    """

    def __init__(self, model: Model, tokens: Tokens, edits: Sequence[Edit] = ()) -> None:
        self._decoder, self._config = model.decoder()
        self._model = model
        self._edits = model_edits(edits, self._config)
        self._caches = self._decoder.caches()
        self._text = tokens
        self.added: list[int] = []
        self._run(list(tokens.ids))

    @property
    def ended(self) -> bool:
        """Whether the last token is one that ends a text."""
        return bool(self.added) and self.added[-1] in self._config.ends

    @property
    def full(self) -> bool:
        """Whether the model has no position for one more token."""
        return len(self._text) + len(self.added) >= self._config.positions

    def likeliest(self, count: int) -> list[NextWord]:
        """The likeliest tokens, the likeliest first."""
        order = np.argsort(-self._probabilities, kind="stable")[:count]
        return [self.word(int(id)) for id in order]

    def word(self, id: int) -> NextWord:
        """One token, and its probability."""
        said = self._model.continuation(self._text)
        for before in self.added:
            said.add(before)
        return NextWord(id, said.add(id) or self._model.text([id]), float(self._probabilities[id]))

    def go_on(self, id: int) -> None:
        """Add a token to the text."""
        self._run([id])
        self.added.append(int(id))

    def _run(self, ids: list[int]) -> None:
        x = self._decoder.embed(np.array([ids]))
        for layer in self._decoder.layers(x, None, None, (), self._caches, edits=self._edits):
            x = layer.state
        self._probabilities: NDArray[np.float64] = softmax(self._decoder.logits(x[0, -1]))

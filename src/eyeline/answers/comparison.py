"""`compare`: the same word in two sentences, and what each makes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eyeline.answers import numbers
from eyeline.answers.numbers import Array
from eyeline.answers.question import QuestionError, Selection, loaded, sizes_of, tokens_of, where
from eyeline.answers.running import hidden_units, look
from eyeline.answers.shown import Shown
from eyeline.answers.units import Found, find
from eyeline.models.units import Unit, shown_of, units_of

if TYPE_CHECKING:
    from eyeline.models import Model, Tokens
    from eyeline.views import document
    from eyeline.views.terminal import Drawing


@dataclass(frozen=True)
class Side:
    """One of the two sentences.

    Attributes:
        name: "A" or "B".
        tokens: the text as the model's tokens.
        units: its words and special tokens; U of them.
        shown: the places of the units that are drawn; the others are set aside.
        found: the word that is compared.
        weights: what it gives to each unit, (U,).
        vectors: its vector at each layer, (layers + 1, width).
        hidden: which units it may not look at, (U,); None where it may look at all.
    """

    name: str
    tokens: Tokens
    units: tuple[Unit, ...]
    shown: tuple[int, ...]
    found: Found
    weights: Array
    vectors: Array
    hidden: NDArray[np.bool_] | None = None

    @property
    def words(self) -> list[str]:
        """What is drawn, in reading order, as typed."""
        return [self.units[place].text for place in self.shown]

    @property
    def shares(self) -> Array:
        """Of what the word gives to the words, what goes to each: what the bars show; sums to 1."""
        return numbers.shares(self.weights, self.shown)


@dataclass(frozen=True)
class Comparison(Shown):
    """The same word in two sentences. Made by `compare`; print it to see it.

    Attributes:
        model: the model's name.
        sizes: its layers, heads, head width and positions.
        token: the word, as it was asked for.
        where: the layer, and the head, None for the mean of all.
        cosines: of the word's two vectors at each layer, 0 (the embedding) to the last, (layers + 1,).
        sides: A and B.
        special: whether special tokens, and a decoder's first, are drawn.
        causal: whether the model's tokens look only back.
    """

    model: str
    sizes: dict[str, int]
    token: str
    where: Selection
    cosines: Array
    sides: tuple[Side, Side]
    special: bool
    causal: bool = False

    @cached_property
    def document(self) -> document.Comparison:
        """All of it as plain data: what `--json` prints. docs/json.md says what each key means."""
        from eyeline.answers.documents import comparison_document

        return comparison_document(self)

    def __repr__(self) -> str:
        from eyeline.views.findings import compared

        return f"<Comparison of {self.token!r} in two texts: {' '.join(compared(self.document))}>"

    def __rich__(self) -> Drawing:
        from eyeline.views.terminal import Drawing, comparison

        return Drawing(lambda ink: comparison(self.document, ink))

    def _repr_html_(self) -> str:
        from eyeline.views.html import comparison_html

        return comparison_html(self.document)


def compare(
    text_a: str,
    text_b: str,
    token: str,
    *,
    nth: int | None = None,
    nth_a: int | None = None,
    nth_b: int | None = None,
    layer: int | None = None,
    head: int | None = None,
    special: bool = False,
    model: str | os.PathLike[str] | Model = "minilm",
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """How differently two sentences treat the same word.

    Args:
        text_a, text_b: the two sentences.
        token: the word, which is in both, or several words in a row. The vector of a word in pieces is their mean.
        nth: which one, from 1, where the word is there more than once; `nth_a` and `nth_b` say it for each apart.
        nth_a, nth_b: as `nth`, for one sentence.
        layer: whose attention is shown, 1 to the model's layers; the last if not given.
        head: 1 to the model's heads; the mean over all if not given.
        special: show special tokens among the words, not set aside; with a decoder, the first word too.
        model: a name of the catalogue, a folder, or a loaded model.
        progress: called with a line of text at each step of fetching a model.

    Returns:
        `Comparison`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if a text, the token, the layer or the head isn't one that can be answered; a ValueError.
        ModelError: if the model is unknown or its files are wrong; a ValueError.

    >>> compare("time flies like an arrow", "fruit flies like a banana", "flies").cosines.round(3).tolist()
    [1.0, 0.917, 0.903, 0.871, 0.807, 0.808, 0.631]
    """
    for name, text in (("text_a", text_a), ("text_b", text_b)):
        if isinstance(text, str) and not text.strip():
            raise QuestionError(f"{name} must have at least one word, got {text[:20]!r}")
    model = loaded(model, progress)
    place = where(model, layer, head)
    asked = [("A", "text_a", text_a, nth_a), ("B", "text_b", text_b, nth_b)]
    ready = []
    for name, argument, text, own_nth in asked:
        tokens = tokens_of(model, text, argument)
        units = units_of(tokens, pieces=False)
        try:
            chosen = nth if own_nth is None else own_nth
            found = find(token, chosen, units, text, special, f"nth_{name.lower()}")
        except QuestionError as error:
            raise error.about(f"text {name}") from None
        ready.append((name, tokens, units, found))
    first, second = (_side(model, name, tokens, units, found, place, special) for name, tokens, units, found in ready)
    config = model.config
    sizes = sizes_of(model)
    cosines = numbers.cosine(first.vectors, second.vectors)
    return Comparison(model.name, sizes, first.found.text, place, cosines, (first, second), special, config.causal)


def _side(
    model: Model, name: str, tokens: Tokens, units: list[Unit], found: Found, place: Selection, special: bool
) -> Side:
    queries = [position for unit in found.units for position in units[unit].tokens]
    sight = look(model, tokens.ids, place.layer, queries)
    assert sight.vectors is not None
    rows = numbers.from_tokens(sight.weights, queries, units)
    row = rows.mean(axis=0) if place.head is None else rows[place.head - 1]
    shown = shown_of(units, causal=model.config.causal, special=special, asked=found.units)
    hidden = hidden_units(sight.layer.mask, sight.weights.shape, units)
    unseen = None if hidden is None else np.asarray(hidden[list(found.units)].all(axis=0))
    return Side(name, tokens, tuple(units), shown, found, row, sight.vectors, unseen)

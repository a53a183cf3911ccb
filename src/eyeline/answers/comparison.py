"""`compare`: the vectors and the attention of the same word in two sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from eyeline.answers import unit_weights
from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.entries import (
    LayerCosine,
    Look,
    ModelEntry,
    TokenEntry,
    UnitEntry,
    UnknownText,
    given_aside,
    layer_cosines,
    looks,
    model_entry,
    token_entries,
    unit_entries,
    unknown_text,
)
from eyeline.answers.question import QuestionError, Selection, asked_model, check_special, positive, read_text, where
from eyeline.answers.unit_weights import Array, cosine, from_tokens
from eyeline.answers.vectors import hidden_units, mean_vectors
from eyeline.models import Tokens
from eyeline.models.units import Unit, shown_of, units_of
from eyeline.readouts import Weights
from eyeline.traces import Keep, TextModel, Trace, TraceError, record_text
from eyeline.traces.keep import short
from eyeline.traces.text_model import AnyModel
from eyeline.traces.word_search import FoundWord, find
from eyeline.words import worded


@dataclass(frozen=True)
class CompareQuestion:
    """The question.

    Attributes:
        token: the word.
        layer, head: the attention shown is that of this layer and head, counted from 0; `head` is None for the mean of
            all.
        special: whether special tokens, and a decoder's first token, are drawn one by one.
        shares: whether the drawn numbers are shares of the words alone, and not weights.
        top: the largest number of words drawn; None for a number that fits.
    """

    token: str
    layer: int
    head: int | None
    special: bool
    shares: bool
    top: int | None


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sentences.

    Attributes:
        name: "A" or "B".
        text: the sentence.
        token: the compared word, as written in this sentence.
        nth: which occurrence of the word, from 1.
        token_units: the indices of the word's units.
        tokens: the model's tokens of the sentence.
        unknown: the text that the tokenizer's vocabulary lacks; None if there is none.
        units: the sentence's words and special tokens, U of them.
        shown: the indices of the units that are drawn; the others are set aside.
        looks_at: the word's weight on each unit.
        set_aside: the word's total weight on the units that are set aside.
        trace: the trace of the run; not part of the JSON.
    """

    name: str
    text: str
    token: str
    nth: int
    token_units: tuple[int, ...]
    tokens: tuple[TokenEntry, ...]
    unknown: UnknownText | None
    units: tuple[UnitEntry, ...]
    shown: tuple[int, ...]
    looks_at: tuple[Look, ...]
    set_aside: float
    trace: Trace = field(metadata=PYTHON_ONLY)

    @property
    def words(self) -> list[str]:
        """The drawn words, in reading order, as typed."""
        return [self.units[place].text for place in self.shown]

    @property
    def weights(self) -> Array:
        """The word's weight on each unit, (U,)."""
        return np.array([look.weight for look in self.looks_at])

    @property
    def shares(self) -> Array:
        """`weights` as shares of the total on the drawn words, which sum to 1: what is drawn with `shares=True`."""
        return unit_weights.shares(self.weights, self.shown)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Answer):
    """The same word in two sentences. Made by `compare`; print it to see it.

    Attributes:
        model: the model's name and sizes.
        causal: whether the model's attention is causal.
        question: the question.
        cosines: the cosine of the word's two vectors, for the embeddings and after each layer.
        sides: A and B.
    """

    model: ModelEntry
    causal: bool
    question: CompareQuestion
    cosines: tuple[LayerCosine, ...]
    sides: tuple[Side, Side]

    schema: ClassVar[str] = "eyeline.compare/2"


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
    shares: bool = False,
    top: int | None = None,
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    kind: Literal["encoder", "decoder"] | None = None,
    progress: Callable[[str], None] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare the vectors and the attention of the same word in two sentences.

    Args:
        text_a, text_b: the two sentences.
        token: the word, which occurs in both, or several words in a row. The vector of several tokens is their mean.
        nth: which occurrence, from 1, if the word occurs more than once; `nth_a` and `nth_b` set it for each sentence.
        nth_a, nth_b: as `nth`, for one sentence.
        layer: show the attention of this layer, counted from 0; the last if not given.
        head: show this head, counted from 0; the mean over all if not given.
        special, shares: as for `explain`.
        top, model, tokenizer, kind: as for `explain`.
        progress: called with a line of text at each step of fetching a model.
        layer_done: called after each layer with the number of finished layers and of all layers.

    Returns:
        `Comparison`, which prints itself, and draws itself in a notebook.

    Raises:
        TraceError: if a model of transformers is given without its tokenizer, or doesn't give its tokens' vectors.
        QuestionError: if a text, the token, the layer or the head is invalid; a ValueError.
        ModelError: if the model is unknown or its files are invalid; a ValueError.

    >>> found = compare("time flies like an arrow", "fruit flies like a banana", "flies").cosines
    >>> [round(entry.cosine, 3) for entry in found]
    [1.0, 0.917, 0.903, 0.871, 0.807, 0.808, 0.631]
    """
    for name, text in (("text_a", text_a), ("text_b", text_b)):
        if isinstance(text, str) and not text.strip():
            raise QuestionError(worded("{name} must have at least one word, got {text!r}", name=name, text=text[:20]))
    check_special(special, shares)
    runs_on = asked_model(model, tokenizer, kind, None, progress)
    where(runs_on, layer, head)
    asked = [("A", "text_a", text_a, nth_a), ("B", "text_b", text_b, nth_b)]
    ready = []
    for name, argument, text, own_nth in asked:
        read = read_text(runs_on, text, argument)
        units = units_of(read.tokens, pieces=False)
        try:
            chosen = nth if own_nth is None else own_nth
            found = find(token, chosen, units, read.tokens.text, special, f"nth_{name.lower()}")
        except QuestionError as error:
            raise error.about(worded("text {name}", name=name)) from None
        ready.append((name, read, units, found))
    sides, vectors = [], []
    for name, read, units, found in ready:
        queries = found.tokens(units)
        keep = Keep(vectors=short(len(read.tokens), queries), changed_scores=True)
        trace = record_text(runs_on, read, keep=keep, layer_done=layer_done)
        place = where(trace.model, layer, head)
        sides.append(_side(trace, name, read.tokens, units, found, place, special))
        own = mean_vectors(trace, queries)
        if own is None:
            raise TraceError(
                worded(
                    "model must give its tokens' vectors (hidden states) to be compared, got {model}",
                    model=runs_on.name,
                )
            )
        vectors.append(own)
    first, second = sides
    question = CompareQuestion(first.token, place.layer, place.head, special, shares, positive("top", top))
    cosines = layer_cosines(cosine(*vectors))
    return Comparison(model_entry(trace), trace.kind == "decoder", question, cosines, (first, second))


def _side(
    trace: Trace, name: str, tokens: Tokens, units: list[Unit], found: FoundWord, where: Selection, special: bool
) -> Side:
    layer, queries = trace.layers[where.layer], found.tokens(units)
    first, last = min(queries), max(queries) + 1
    seen = layer.observe(Weights(), queries=(first, last)).weights
    assert seen is not None
    rows = from_tokens(seen[:, 0], [query - first for query in queries], units)
    row = rows[where.heads].mean(axis=0)
    shown = shown_of(units, causal=trace.kind == "decoder", special=special, asked=found.units)
    hidden = hidden_units(layer, units)
    unseen = None if hidden is None else hidden[list(found.units)].all(axis=0)
    return Side(
        name,
        tokens.text,
        found.text,
        found.nth,
        found.units,
        token_entries(tokens),
        unknown_text(tokens),
        unit_entries(units, shown),
        shown,
        looks(row, units, shown, unseen),
        given_aside(row, shown),
        trace,
    )

"""`heads`: measure and label every head of a model on a text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.behaviour.head_labels import Label, apply, labels_for
from eyeline.answers.behaviour.head_measures import MEASURES, SINK_TOKENS, Array, Measure, measures, readouts
from eyeline.answers.behaviour.induction import DRAWS, InductionTest, induction_of
from eyeline.answers.behaviour.token_groups import TokenGroups, groups_of
from eyeline.answers.entries import ModelEntry, UnknownText, model_entry, unknown_text
from eyeline.answers.question import QuestionError, asked_model, read_any_length, too_long
from eyeline.models import Tokens
from eyeline.models.cutting import around, cut
from eyeline.traces import Keep, ReadText, TextModel, Trace
from eyeline.traces.text_model import AnyModel
from eyeline.words import worded

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class HeadEntry:
    """One head: its layer and number, counted from 0, its labels, and its measures; None where there is nothing to
    measure."""

    layer: int
    head: int
    label: str
    labels: tuple[str, ...]
    entropy: float | None
    distance: float | None
    previous: float | None
    next: float | None
    same: float | None
    first: float | None
    special: float | None
    separator: float | None
    punctuation: float | None
    sink: float | None
    induction: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Heads(Answer):
    """The measures and labels of every head of a model on a text. Made by `heads`; print it to see it.

    Attributes:
        model: the model's name and sizes.
        causal: whether the model's attention is causal.
        text: the text, or the beginning of it that was run.
        token_count: the number of tokens that were run.
        whole_count: the number of tokens in the whole text.
        special_tokens, punctuation_tokens: the special tokens and the punctuation among them, each once.
        unknown: the text that the tokenizer's vocabulary lacks; None if there is none.
        sink_tokens: the number of tokens over which the sink was measured.
        repeated_tokens: the number of tokens in one copy in the test of induction; 0 if the model has no room for it.
        repeated_draws: the number of draws of such tokens.
        measures: the measures, and their definitions.
        labels: the labels that can apply, by precedence.
        heads: one entry per head.
        table: the measures by name, (layers, heads) each; NaN where there is nothing to measure. Not part of the JSON,
            nor are the next two.
        groups: the special tokens and the punctuation.
        trace: the trace of the run.
    """

    model: ModelEntry
    causal: bool
    text: str
    token_count: int
    whole_count: int
    special_tokens: tuple[str, ...]
    punctuation_tokens: tuple[str, ...]
    unknown: UnknownText | None
    sink_tokens: int
    repeated_tokens: int
    repeated_draws: int
    measures: tuple[Measure, ...]
    labels: tuple[Label, ...]
    heads: tuple[HeadEntry, ...]
    table: dict[str, Array] = field(metadata=PYTHON_ONLY)
    groups: TokenGroups = field(metadata=PYTHON_ONLY)
    trace: Trace = field(metadata=PYTHON_ONLY)

    schema: ClassVar[str] = "eyeline.heads/2"

    @property
    def label(self) -> NDArray[np.str_]:
        """The first label of each head, (layers, heads)."""
        return np.array([entry.label for entry in self.heads]).reshape(self.model.layers, -1)

    def frame(self) -> DataFrame:
        """A pandas DataFrame with a row for each head: layer and head, counted from 0, label, labels, and the measures.

        Raises:
            ImportError: if pandas isn't installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError(worded("frame needs pandas, which isn't installed; pip install pandas")) from None
        places = {name: [getattr(entry, name) for entry in self.heads] for name in ("layer", "head", "label")}
        return DataFrame(
            {
                **places,
                "labels": [entry.labels for entry in self.heads],
                **{measure.name: self.table[measure.name].ravel() for measure in MEASURES},
            }
        )


def heads(
    text: str,
    *,
    first: int | None = None,
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    kind: Literal["encoder", "decoder"] | None = None,
    target: str | None = None,
    progress: Callable[[str], None] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Heads:
    """Measure every head of a model on a text: how broadly, how far and at what it looks, and a label for that.

    Each measure is a mean over all tokens, special ones included; `eyeline.answers.behaviour.head_measures` defines
    them. The model runs once and no weights are kept, so memory is linear in the length of the text. The test of
    induction doesn't depend on the text: it runs once for each model, and its result is cached.

    Args:
        text: one or more words, with at most as many tokens as the model has positions.
        first: run only the first tokens of the text, so many; special ones count.
        model, tokenizer, kind, target: as for `explain`.
        progress: called with a line of text at each step of fetching a model.
        layer_done: called after each layer with the number of finished layers and of all layers.

    Returns:
        `Heads`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text or `first` is invalid; a ValueError.
        ModelError: if the model is unknown or its files are invalid; a ValueError.

    >>> found = heads("Time flies like an arrow; fruit flies like a banana.")
    >>> found.table["entropy"].shape
    (6, 12)
    >>> float(found.table["previous"][0, 2].round(2)), str(found.label[0, 2])
    (0.93, 'previous token')
    """
    runs_on = asked_model(model, tokenizer, kind, target, progress)
    whole = read_any_length(runs_on, text)
    read = _beginning(runs_on, whole, first)
    tokens = read.tokens
    groups = groups_of(tokens)
    keep = Keep(values=False, read=readouts(groups), changed_scores=True)
    trace = runs_on.record(read, keep, layer_done=layer_done)
    causal = trace.kind == "decoder"
    found = [measures(layer, seen, groups) for layer, seen in zip(trace.layers, trace.seen, strict=True)]
    table = {name: np.stack([numbers[name] for numbers in found]) for name in found[0]}
    test = induction_of(runs_on, read)
    table["induction"] = np.full_like(table["entropy"], np.nan) if test is None else test.scores
    return _heads(trace, tokens, len(whole.tokens), groups, table, test, labels_for(len(tokens), causal))


def _heads(
    trace: Trace,
    tokens: Tokens,
    whole_count: int,
    groups: TokenGroups,
    table: dict[str, Array],
    test: InductionTest | None,
    defined: tuple[Label, ...],
) -> Heads:
    entries = []
    for layer, head in np.ndindex(table["entropy"].shape):
        numbers = {name: float(values[layer, head]) for name, values in table.items()}
        names = apply(defined, numbers)
        known = {name: None if value != value else value for name, value in numbers.items()}
        entries.append(HeadEntry(layer, head, names[0], names, **known))
    texts = [tokens.text[first:last].strip() for first, last in tokens.offsets]
    return Heads(
        model_entry(trace),
        trace.kind == "decoder",
        tokens.text,
        len(tokens),
        whole_count,
        _each(tokens.pieces, groups.special),
        _each(texts, groups.punctuation),
        unknown_text(tokens),
        min(len(tokens), SINK_TOKENS),
        0 if test is None else test.length,
        DRAWS,
        MEASURES,
        defined,
        tuple(entries),
        table,
        groups,
        trace,
    )


def _each(texts: list[str], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    """The chosen texts, each once, in order."""
    return tuple(dict.fromkeys(text for text, here in zip(texts, chosen.tolist(), strict=True) if here))


def _beginning(model: TextModel, whole: ReadText, first: int | None) -> ReadText:
    """The text to run: the whole text, or its first tokens."""
    positions, tokens = model.positions, whole.tokens
    if first is None:
        if positions is not None and len(tokens) > positions:
            raise too_long(
                model,
                len(tokens),
                "text",
                worded("first={positions} runs the first {positions} tokens", positions=positions),
                worded("--first {positions} runs the first {positions} tokens", positions=positions),
            )
        return whole
    least, most = sum(around(tokens)) + 1, len(tokens) if positions is None else positions
    if isinstance(first, bool) or not isinstance(first, (int, np.integer)) or not least <= first <= most:
        raise QuestionError(
            worded(
                "first must be from {least} to {most} tokens in {model}, got {first!r}",
                least=least,
                most=most,
                model=model.name,
                first=first,
            )
        )
    return whole if first >= len(tokens) else model.with_tokens(cut(tokens, int(first)), whole)

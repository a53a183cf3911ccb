"""A question about effects, ready to be answered head by head: the run itself, and what is measured of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from eyeline.answers.mattering.answer import By, NextChoice
from eyeline.answers.mattering.changed_runs import ChangedRuns, Look
from eyeline.answers.mattering.measure import Array, NextToken, Quantity, VectorCosine
from eyeline.answers.mattering.next_tokens import choice, likeliest, notes_on, token_after
from eyeline.answers.mattering.own_run import OwnRun
from eyeline.answers.mattering.subject import Subject, edits_found, subject
from eyeline.answers.question import QuestionError
from eyeline.edits import Edit, Gate, MeanOutput, MeanOutputs, ModelEdits, Uniform
from eyeline.traces import ReadText, TextModel, mean_outputs
from eyeline.traces.own_model import OwnModel
from eyeline.traces.transformers_model import TransformersModel
from eyeline.words import worded


@dataclass(frozen=True, eq=False)
class Prepared:
    """A question, with the run itself.

    Attributes:
        model: the model.
        subject: what is measured of the text.
        runs: the run itself, and the runs in which something is changed.
        measure: what is measured.
        next, rather: the next token and its rival, of a decoder.
        edits: the run's own edits.
        by, means: what a head's output is replaced by.
        notes: what a reader has to know of the next token.
    """

    model: TextModel
    subject: Subject
    runs: ChangedRuns
    measure: Quantity
    next: NextChoice | None
    rather: NextChoice | None
    edits: ModelEdits
    by: By
    means: MeanOutputs | None
    notes: tuple[str, ...]

    def effects(self, found: Any) -> Array:
        """The effects, (B,), of what was found in a batch of runs."""
        return self.measure.effects(self.runs.found, found)

    def of_layer(self, layer: int) -> Array:
        """The effect of cutting each head of a layer, (H,)."""
        return self.runs.of_heads(layer, self._cut(layer), self.effects)

    def of_looks(self, layer: int, looks: Sequence[Look]) -> Array:
        """The effect of cutting each look of a layer, (looks,)."""
        return self.runs.of_looks(layer, looks, self.effects)

    def _cut(self, layer: int) -> Edit:
        """What cuts all heads of a layer."""
        if self.means is not None:
            return MeanOutput(self.means, layer=layer)
        return Uniform(layer=layer) if self.by == "uniform" else Gate(layer=layer)


def prepared(
    model: TextModel,
    text: str | ReadText,
    *,
    token: str | None = None,
    nth: int | None = None,
    next: str | None = None,
    rather: str | None = None,
    embed: bool = False,
    by: By = "zero",
    over: Sequence[str] | MeanOutputs | None = None,
    first_order: bool = False,
    edits: Edit | Sequence[Edit] = (),
    special: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Prepared:
    """Check a question, and run the model once; arguments and errors as of `effects`."""
    check_by(by, over, first_order)
    asked = subject(
        model,
        text,
        token=token,
        nth=nth,
        next=next,
        rather=rather,
        embed=embed,
        special=special,
        first_order=first_order,
    )
    tokens = asked.read.tokens
    names = {"next": next, "rather": rather}
    wanted = {name: token_after(model, tokens, word, name) for name, word in names.items() if word is not None}
    if len(wanted) == 2 and wanted["next"][0] == wanted["rather"][0]:
        raise QuestionError(
            worded("rather must be another token than next, got {token!r} for both", token=wanted["next"][1])
        )
    means = _means(model, over, progress) if by == "mean" else None
    changes = edits_found(edits, model, asked)
    runs = _runs(model, asked, changes)
    if not asked.causal:
        measure: Quantity = VectorCosine("text cosine" if asked.found is None else "token cosine")
        return Prepared(model, asked, runs, measure, None, None, changes, by, means, ())
    logits = runs.found[0]
    wanted.setdefault("next", likeliest(model, logits))
    chosen = {name: choice(*one, names[name], logits) for name, one in wanted.items()}
    first, rival = chosen["next"], chosen.get("rather")
    notes = [note for name, one in chosen.items() for note in notes_on(model, tokens, one, name, logits)]
    measure = NextToken(first.id, None if rival is None else rival.id)
    return Prepared(model, asked, runs, measure, first, rival, changes, by, means, tuple(notes))


def effects_by_layer(model: TextModel, text: str | ReadText, **question: Any) -> Iterator[tuple[int, Array]]:
    """The effects of cutting each head, layer by layer, from the last to the first: for who shows them as they come.

    Args:
        model: the model.
        text: a text, or one that was read, such as one that was generated.
        question: as for `effects`: token, nth, next, rather, embed, by, over, edits, special, progress.

    Yields:
        A layer's number and the effect of each of its heads, (H,), with the sign of `Effects.heads`.

    Raises:
        QuestionError, EditError: as `effects`, at the first layer.

    >>> from eyeline.traces import text_model
    >>> layers = effects_by_layer(text_model("minilm"), "time flies like an arrow", token="flies")
    >>> layer, changes = next(layers)
    >>> layer, changes.shape, int(changes.argmax())
    (5, (12,), 7)
    """
    ready = prepared(model, text, **question)
    for layer in reversed(range(model.layers)):
        yield layer, ready.of_layer(layer)


def check_by(by: object, over: object, first_order: bool) -> None:
    """Check what a head's output is replaced by.

    Raises:
        QuestionError: if it isn't known, or other arguments don't fit it.
    """
    if by not in get_args(By):
        there = ", ".join(map(repr, get_args(By)))
        raise QuestionError(worded("by must be one of {there}, got {by!r}", there=there, by=by))
    if by == "mean" and over is None:
        raise QuestionError(
            worded("over must be given with by='mean': the texts whose mean replaces a head's output"),
            worded("add over=[...], texts of the kind that the model reads"),
            worded("add --over FILE, a text on each line"),
        )
    if by != "mean" and over is not None:
        raise QuestionError(
            worded("over must come with by='mean', got by={by!r}", by=by),
            worded("add by='mean'"),
            worded("add --by mean"),
        )
    if first_order and by != "zero":
        raise QuestionError(
            worded("first_order must come with by='zero', got by={by!r}: a gate's slope leads to 0", by=by),
            worded("leave out one of them"),
        )


def check_edges(edges: object) -> None:
    """
    Raises:
        QuestionError: if it isn't a count.
    """
    if isinstance(edges, bool) or not isinstance(edges, (int, np.integer)) or edges < 0:
        raise QuestionError(worded("edges must be a whole number, 0 or more, got {edges!r}", edges=edges))


def _runs(model: TextModel, asked: Subject, edits: ModelEdits) -> ChangedRuns:
    if isinstance(model, OwnModel):
        return OwnRun(model.model, asked.read.tokens.ids, asked.rows, edits)
    if isinstance(model, TransformersModel):
        from eyeline.answers.mattering.transformers_run import TransformersRun

        return TransformersRun(model, asked.read, None if asked.causal else asked.rows, edits.edits)
    raise QuestionError(worded("model must be one of Eyeline's or of transformers, got {model}", model=model.name))


def _means(model: TextModel, over: Any, progress: Callable[[str], None] | None) -> MeanOutputs:
    """The mean outputs over texts, or those that were given."""
    if isinstance(over, MeanOutputs):
        return over
    if isinstance(over, str) or not isinstance(over, Sequence) or not all(isinstance(one, str) for one in over):
        raise QuestionError(
            worded("over must be a list of texts, or what eyeline.mean_outputs gives, got {over}", over=f"{over!r:.40}")
        )
    return mean_outputs(over, model=model, progress=progress)

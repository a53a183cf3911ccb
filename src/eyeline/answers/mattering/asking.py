"""`effects`: cut every head of a model, and the strongest looks of those that matter, and measure what changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np

from eyeline.answers.entries import model_entry, token_entries, unit_entries, unknown_text
from eyeline.answers.mattering.agreement import agreements
from eyeline.answers.mattering.answer import By, Effects, EffectsQuestion, NextChoice
from eyeline.answers.mattering.cutting import Cutting
from eyeline.answers.mattering.looking import looking
from eyeline.answers.mattering.measure import Measure, NextToken, VectorCosine
from eyeline.answers.mattering.next_tokens import choice, notes_on, token_after
from eyeline.answers.mattering.own_run import OwnRun
from eyeline.answers.mattering.subject import Subject, found_edits, sites_of, subject
from eyeline.answers.question import QuestionError, asked_model
from eyeline.edits import Edit, Gate, MeanOutput, MeanOutputs, Sites, Uniform
from eyeline.models import Tokens
from eyeline.models.units import shown_of
from eyeline.traces import Keep, TextModel, record_text
from eyeline.traces.own_model import OwnModel
from eyeline.traces.text_model import AnyModel
from eyeline.words import worded


def effects(
    text: str,
    *,
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    token: str | None = None,
    nth: int | None = None,
    next: str | None = None,
    rather: str | None = None,
    embed: bool = False,
    by: By = "zero",
    over: Sequence[str] | MeanOutputs | None = None,
    edges: int = 64,
    first_order: bool = False,
    edits: Edit | Sequence[Edit] = (),
    special: bool = False,
    progress: Callable[[str], None] | None = None,
    heads_done: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Effects:
    """Cut every head of a model, one at a time, and measure what changes; then the strongest looks of the heads that
    matter most.

    Of a decoder the log-probability of the next token is measured, or how far it is above a rival's; of an encoder the
    vector of a token after the last layer, or the text's: 1 - its cosine with the run's own. Beside each effect stands
    what attention says: the weight, and the weight × the length of what is passed on.

    The model runs once. At each layer all heads' outputs are changed at once, and a batch with one changed head each
    goes through the layers after it; a model of transformers runs whole for each head, which is slower.

    Args:
        text: one or more words, with at most as many tokens as the model has positions.
        model, tokenizer: as for `explain`; not an encoder-decoder.
        token: of an encoder, the word whose vector is measured: the mean of its pieces'.
        nth: which occurrence, from 1, if the word occurs more than once.
        next: of a decoder, the next token, with the space before it: " Paris". Of several tokens the first is taken.
            The likeliest if not given.
        rather: a rival of the next token, such as " London": the difference of the two log-probabilities is measured.
        embed: of an encoder, measure the text's vector, the mean of its tokens'; so without `token` too.
        by: what a head's output is replaced by: "zero", its "mean" over other texts, or what it is if the head looks
            everywhere alike, "uniform".
        over: the texts of by="mean", or what `eyeline.mean_outputs` made of them.
        edges: how many looks are cut, those that pass on most of the 8 heads that matter most; 0 for none. A cut look
            is hidden before the softmax, so that the rest of its row is renormalised.
        first_order: also the slope of a decoder's measure along each head's gate, by one backward pass of torch: the
            effect as it would be if all were linear.
        edits: edits of the run itself, to which each cut is added.
        special: whether `token` may be a special token.
        progress: called with a line of text at each step of fetching a model.
        heads_done: called with the number of finished heads and of all heads.
        cancelled: called now and then; returns whether to stop. Once it does, or on Ctrl-C, what is done is returned,
            with `complete` False.

    Returns:
        `Effects`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text, the token, the next token or another argument is invalid; a ValueError.
        EditError: if an edit's layer or head isn't there, or it and a cut would both replace a head's weights or
            output; a ValueError.
        ModelError: if the model is unknown or its files are invalid; a ValueError.
        Cancelled: if it was stopped before a head was done.

    >>> found = effects("time flies like an arrow", token="flies", edges=0)
    >>> found.heads.shape, float(found.heads.max().round(3)), found.ordered[0]
    ((6, 12), 0.071, (5, 10))
    """
    _check(by, over, edges, first_order)
    runs_on = asked_model(model, tokenizer, progress=progress)
    asked = subject(
        runs_on,
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
    wanted = [None if word is None else token_after(runs_on, tokens, word, name) for name, word in _named(next, rather)]
    if wanted[0] is not None and wanted[1] is not None and wanted[0][0] == wanted[1][0]:
        raise QuestionError(
            worded("rather must be another token than next, got {token!r} for both", token=wanted[0][1])
        )
    runs_on, runs, _, base_edits = _running(runs_on, asked, edits)
    means = None if by != "mean" else _means(runs_on, over, progress)
    trace = record_text(runs_on, asked.read, keep=Keep(changed_scores=True, input=True))
    chosen: list[NextChoice | None] = [None, None]
    notes: list[str] = []
    if asked.causal:
        logits = runs.found[0]
        named = [wanted[0] or _likeliest(runs_on, tokens, logits), wanted[1]]
        for place, (name, word) in enumerate(_named(next, rather)):
            one = named[place]
            if one is not None:
                chosen[place] = found = choice(*one, word, logits)
                notes += notes_on(runs_on, tokens, found, name, logits)
    measure = _measure(asked, chosen)
    cutting = Cutting(runs, partial(measure.effects, runs.found), runs_on.layers, runs_on.heads, heads_done, cancelled)
    cutting.cut_heads(lambda layer: _cut(layer, by, means))
    found_edges = cutting.cut_looks(trace, edges, asked.rows)
    looks, passed = looking(trace, asked.rows)
    slopes = None
    shown = shown_of(asked.units, causal=asked.causal, special=special, asked=asked.found.units if asked.found else ())
    return Effects(
        model_entry(trace),
        tokens.text,
        EffectsQuestion(
            None if asked.found is None else asked.found.text,
            None if asked.found is None else asked.found.nth,
            () if asked.found is None else asked.found.units,
            chosen[0],
            chosen[1],
            by,
            None if means is None else means.tokens,
            tuple(map(repr, base_edits)),
        ),
        measure.name,
        measure.value(runs.found),
        cutting.complete,
        token_entries(tokens),
        unit_entries(asked.units, shown),
        unknown_text(tokens),
        cutting.heads,
        looks,
        passed,
        slopes,
        found_edges,
        agreements(cutting.heads, looks, passed, slopes, found_edges),
        tuple(notes),
        trace,
        base_edits,
    )


def _named(next: str | None, rather: str | None) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    return ("next", next), ("rather", rather)


def _check(by: object, over: object, edges: object, first_order: bool) -> None:
    if by not in get_args(By):
        raise QuestionError(
            worded("by must be one of {there}, got {by!r}", there=", ".join(map(repr, get_args(By))), by=by)
        )
    if (by == "mean") != (over is not None):
        raise QuestionError(
            worded("over must be given with by='mean', whose other texts it names, and only then"),
            worded("add over=[...], texts of the kind that the model is used for") if by == "mean" else "",
            worded("add --over FILE, a text on each line") if by == "mean" else worded("leave out --over"),
        )
    if isinstance(edges, bool) or not isinstance(edges, (int, np.integer)) or edges < 0:
        raise QuestionError(worded("edges must be a whole number, 0 or more, got {edges!r}", edges=edges))
    if first_order and by != "zero":
        raise QuestionError(
            worded("first_order must come with by='zero', got {by!r}: a gate's slope is towards 0", by=by)
        )


def _running(model: TextModel, asked: Subject, edits: Any) -> tuple[TextModel, OwnRun, Sites, tuple[Edit, ...]]:
    assert isinstance(model, OwnModel)
    sites = sites_of(model, asked.causal, model.model.config.key_heads)
    found = found_edits(edits, asked, sites)
    return model, OwnRun(model.model, asked.read.tokens.ids, asked.rows, found, sites), sites, found


def _likeliest(model: TextModel, before: Tokens, logits: Any) -> tuple[int, str]:
    assert isinstance(model, OwnModel)
    id = int(logits.argmax())
    return id, model.model.text([id])


def _measure(asked: Subject, chosen: Sequence[NextChoice | None]) -> Measure:
    if not asked.causal:
        return VectorCosine("text cosine" if asked.found is None else "token cosine")
    first, rival = chosen
    assert first is not None
    return NextToken(first.id, None if rival is None else rival.id)


def _cut(layer: int, by: By, means: MeanOutputs | None) -> Edit:
    """What cuts all heads of a layer."""
    if means is not None:
        return MeanOutput(means, layer=layer)
    return Uniform(layer=layer) if by == "uniform" else Gate(layer=layer)


def _means(model: TextModel, over: Any, progress: Callable[[str], None] | None) -> MeanOutputs:
    if isinstance(over, MeanOutputs):
        return over
    raise NotImplementedError

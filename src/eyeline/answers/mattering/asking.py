"""`effects`: cut every head of a model, and the strongest looks of those that matter, and measure what changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eyeline.answers.entries import model_entry, token_entries, unit_entries, unknown_text
from eyeline.answers.mattering.agreement import agreements
from eyeline.answers.mattering.answer import By, Effects, EffectsQuestion
from eyeline.answers.mattering.cutting import Cutting
from eyeline.answers.mattering.first_order import check_first_order, first_order_effects
from eyeline.answers.mattering.looking import looking
from eyeline.answers.mattering.prepared import check_by, check_edges, prepared
from eyeline.answers.question import asked_model
from eyeline.edits import Edit, MeanOutputs, named
from eyeline.models.units import shown_of
from eyeline.traces import Keep, TextModel, record_text
from eyeline.traces.text_model import AnyModel


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
    ((6, 12), 0.045, (0, 4))
    """
    check_edges(edges)
    check_by(by, over, first_order)
    if first_order:
        check_first_order()
    runs_on = asked_model(model, tokenizer, progress=progress)
    ready = prepared(
        runs_on,
        text,
        token=token,
        nth=nth,
        next=next,
        rather=rather,
        embed=embed,
        by=by,
        over=over,
        first_order=first_order,
        edits=edits,
        special=special,
        progress=progress,
    )
    asked, tokens = ready.subject, ready.subject.read.tokens
    trace = record_text(runs_on, asked.read, keep=Keep(changed_scores=True, input=True), edits=ready.edits.edits)
    cutting = Cutting(ready, heads_done, cancelled)
    cutting.cut_heads()
    found = cutting.cut_looks(trace, edges)
    slopes = first_order_effects(ready) if first_order and cutting.complete else None
    looks, passed = looking(trace, asked.rows)
    word = asked.found
    shown = shown_of(asked.units, causal=asked.causal, special=special, asked=word.units if word else ())
    return Effects(
        model_entry(trace),
        tokens.text,
        EffectsQuestion(
            None if word is None else word.text,
            None if word is None else word.nth,
            () if word is None else word.units,
            ready.next,
            ready.rather,
            by,
            None if ready.means is None else ready.means.tokens,
            tuple(map(named, ready.edits.edits)),
        ),
        ready.measure.name,
        ready.measure.value(ready.runs.found),
        cutting.complete,
        token_entries(tokens),
        unit_entries(asked.units, shown),
        unknown_text(tokens),
        cutting.heads,
        looks,
        passed,
        slopes,
        found,
        agreements(cutting.heads, looks, passed, slopes, found),
        ready.notes,
        trace,
        ready.edits.edits,
    )

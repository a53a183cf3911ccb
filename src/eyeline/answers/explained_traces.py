"""An explanation, computed from the traces of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from eyeline.answers.entries import (
    given_aside,
    layer_cosines,
    looks,
    model_entry,
    token_entries,
    unit_entries,
    unit_matrix,
    unknown_text,
)
from eyeline.answers.explanation import ExplainedRun, ExplainQuestion, Explanation
from eyeline.answers.generation import Generated
from eyeline.answers.head_steps import head_steps
from eyeline.answers.question import Selection, where
from eyeline.answers.unit_weights import by_unit, cosine, from_tokens, hardest_heads
from eyeline.answers.vectors import hidden_units, mean_vectors
from eyeline.edits import named
from eyeline.models import Tokens
from eyeline.models.units import Unit, shown_of
from eyeline.traces import Trace
from eyeline.traces.word_search import FoundWord


@dataclass(frozen=True)
class Asked:
    """What is asked about a text; the arguments of `explain` of these names."""

    token: str | None
    nth: int | None
    layer: int | None
    head: int | None
    steps: bool
    pieces: bool
    special: bool
    shares: bool
    top: int | None


def explained(
    traces: Sequence[Trace],
    tokens: Tokens,
    units: Sequence[Unit],
    found: FoundWord | None,
    asked: Asked,
    *,
    masks: Sequence[str | None] = (None,),
    mask: str | None = None,
    generated: Callable[[NDArray[Any], Sequence[Unit], Sequence[int], Selection], Generated] | None = None,
) -> Explanation:
    """Compute an explanation of one text.

    Args:
        traces: one of each run, the first as trained.
        tokens: the text's tokens.
        units: the text's units.
        found: the question's word.
        asked: the question.
        masks: for each run the name of the added mask.
        mask: the name of the requested mask.
        generated: describes the generated tokens, if there are any: (weights, units, shown, where), as in
            `eyeline.answers.generation.generated`.
    """
    place = where(traces[0].model, asked.layer, asked.head)
    causal = traces[0].kind == "decoder"
    shown = shown_of(units, causal=causal, special=asked.special, asked=found.units if found else ())
    steps_of: int | Literal["hardest"] | None = None
    if asked.steps:
        steps_of = "hardest" if place.head is None else place.head
    runs: list[ExplainedRun] = []
    new = None
    for trace, name in zip(traces, masks, strict=True):
        weights = trace.layers[place.layer].weights
        run = explained_run(trace, weights, tokens, units, shown, found, place, name, steps_of)
        runs.append(run)
        if run.steps is not None:
            steps_of = run.steps.head
        # With edits, the changed run is the one that generated.
        if generated is not None and (trace is traces[-1] if traces[-1].edits else new is None):
            new = generated(weights, units, shown, place)
    return Explanation(
        model_entry(traces[0]),
        causal,
        tokens.text,
        ExplainQuestion(
            None if found is None else found.text,
            None if found is None else found.nth,
            () if found is None else found.units,
            place.layer,
            place.head,
            "piece" if asked.pieces else "word",
            asked.special,
            asked.shares,
            mask,
            asked.top,
        ),
        token_entries(tokens),
        unknown_text(tokens),
        unit_entries(units, shown),
        shown,
        tuple(runs),
        new,
        tuple(traces),
    )


def explained_run(
    trace: Trace,
    weights: NDArray[Any],
    tokens: Tokens,
    units: Sequence[Unit],
    shown: Sequence[int],
    found: FoundWord | None,
    where: Selection,
    mask: str | None,
    steps_of: int | Literal["hardest"] | None,
) -> ExplainedRun:
    """Compute the numbers of one run.

    Args:
        trace: the trace of the run.
        weights: the weights of the chosen layer, (H, N, N).
        tokens: the text's tokens.
        units: the text's units.
        shown: the indices of the units that are drawn.
        found: the question's word.
        where: the chosen layer and head; the head is None for the mean of all.
        mask: the name of the added mask.
        steps_of: the head whose steps to keep, or None; "hardest" for the head with the largest weight on one word.
    """
    layer = trace.layers[where.layer]
    by_head = by_unit(weights, units)
    hidden = hidden_units(layer, units)
    matrix = unit_matrix(by_head[where.heads].mean(axis=0), units, shown, hidden)
    about = (trace.name, mask, layer.scale, tuple(map(named, trace.edits)))
    if found is None:
        return ExplainedRun(*about, None, None, None, None, None, matrix, by_head)
    queries = found.tokens(units)
    rows = from_tokens(weights, queries, units)
    counted = shown_of(units, causal=trace.kind == "decoder", special=False, asked=found.units)
    hardest = hardest_heads(rows, where.layer, units, counted)
    kept = None
    if steps_of is not None:
        head = hardest[0].head if steps_of == "hardest" else steps_of
        chosen: Literal["asked", "hardest"] = "hardest" if where.head is None else "asked"
        kept = head_steps(trace, where.layer, head, chosen, units[found.units[0]].tokens[0], tokens)
    vectors = mean_vectors(trace, queries)
    row = rows[where.heads].mean(axis=0)
    return ExplainedRun(
        *about,
        looks(row, units, shown, None if hidden is None else hidden[list(found.units)].all(axis=0)),
        given_aside(row, shown),
        hardest,
        None if vectors is None else layer_cosines(cosine(vectors, vectors[0])),
        kept,
        matrix,
        by_head,
    )

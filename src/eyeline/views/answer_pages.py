"""The page of an explanation or a comparison: the traces of its runs, and the state that shows the question."""

from __future__ import annotations

from typing import Any

from eyeline.answers import Comparison, Explanation
from eyeline.traces.layer_trace import check_plain
from eyeline.views.page import Page
from eyeline.words import worded


def explanation_page(found: Explanation) -> Page:
    """Make the page of an explanation; its second trace, if any, is of the run with a changed mask or scale.

    Raises:
        TraceError: if the model's scores are more than scaled products (a cap, a bias,
            sinks), which the page can't show.
    """
    for trace in found.traces:
        check_plain(trace.layers, trace.model.name, worded("shown on a page"))
    question = found.question
    token = found.units[question.units[0]].tokens[0] if question.units else None
    state = _state(question.layer, question.head, token, question.special)
    state |= {"unit": "pieces" if question.unit == "piece" else "words"}
    if found.steps is not None:
        state |= {"view": "steps", "head": found.steps.head}
    if len(found.traces) > 1:
        state |= {"other": [1, state["layer"], state["head"]]}
    return Page(found.traces, state)


def comparison_page(found: Comparison) -> Page:
    """Make the page of a comparison.

    Raises:
        TraceError: as for `explanation_page`.
    """
    first, second = found.sides
    for side in found.sides:
        check_plain(side.trace.layers, side.trace.model.name, worded("shown on a page"))
    question = found.question
    state = _state(question.layer, question.head, first.units[first.token_units[0]].tokens[0], question.special)
    partner = second.units[second.token_units[0]].tokens[0]
    state |= {"view": "compare", "other": [1, state["layer"], state["head"]], "partner": partner}
    return Page([side.trace for side in found.sides], state)


def _state(layer: int, head: int | None, token: int | None, special: bool) -> dict[str, Any]:
    """The part of the page's state that every question sets."""
    return {
        "layer": layer,
        "head": "mean" if head is None else head,
        "token": token,
        "special": "shown" if special else "grey",
    }

"""The page of an explanation or a comparison: traces of its runs, and the state that shows what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from eyeline.masks import Mask
from eyeline.traces import record_tokens
from eyeline.views.page import Page

if TYPE_CHECKING:
    from eyeline.answers.comparison import Comparison
    from eyeline.answers.explanation import Explanation
    from eyeline.answers.question import Selection
    from eyeline.answers.units import Found
    from eyeline.models import Model
    from eyeline.models.units import Unit


def explanation_page(
    found: Explanation,
    model: Model,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
) -> Page:
    """The page of an explanation.

    Args:
        found: what `explain` gave.
        model: what it was asked of.
        mask, scale: what was asked for; where that changed anything, the second trace is of the run that it changed.
    """
    prompt = None if found.generated is None else found.generated.prompt_tokens
    traces = [record_tokens(model, found.tokens, prompt=prompt)]
    if len(found.runs) > 1:
        traces.append(record_tokens(model, found.tokens, prompt=prompt, mask=mask, scale=scale))
    state = _state(found.where, found.token, found.units, found.special)
    state |= {"unit": "pieces" if found.pieces else "words"}
    if found.steps is not None:
        state |= {"view": "steps", "head": found.steps.head - 1}
    if len(traces) > 1:
        state |= {"other": [1, state["layer"], state["head"]]}
    return Page(traces, state)


def comparison_page(found: Comparison, model: Model) -> Page:
    """The page of a comparison that `compare` gave, by the model that it was asked of."""
    first, second = found.sides
    state = _state(found.where, first.found, first.units, found.special)
    partner = second.units[second.found.units[0]].tokens[0]
    state |= {"view": "compare", "other": [1, state["layer"], state["head"]], "partner": partner}
    return Page([record_tokens(model, side.tokens) for side in found.sides], state)


def _state(where: Selection, found: Found | None, units: tuple[Unit, ...], special: bool) -> dict[str, Any]:
    """What of the page's state any question says."""
    return {
        "layer": where.layer - 1,
        "head": "mean" if where.head is None else where.head - 1,
        "token": None if found is None else units[found.units[0]].tokens[0],
        "special": special,
    }

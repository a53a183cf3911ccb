"""The page of an explanation or a comparison: the traces of its runs, and the state that shows the question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from eyeline.answers import Comparison, EncoderDecoderExplanation, Explanation
from eyeline.answers.comparison import CompareQuestion
from eyeline.answers.explanation import ExplainQuestion
from eyeline.answers.mattering import effects as cut_heads
from eyeline.traces import TextModel
from eyeline.traces.layer_trace import check_plain
from eyeline.traces.text_model import AnyModel
from eyeline.views.page import Page
from eyeline.words import worded


def explanation_page(found: Explanation, *, layer: int | None = None) -> Page:
    """Make the page of an explanation; its second trace, if any, is of the run with a changed mask or scale.

    Where the question names no head, the page opens at the telling one: the sharpest look of the question's word, or of
    any.

    Args:
        found: the explanation.
        layer: the layer that was asked for; None to open at any of the last.

    Raises:
        TraceError: if the model's scores are more than scaled products (a cap, a bias,
            sinks), which the page can't show.
    """
    for trace in found.traces:
        check_plain(trace.layers, trace.model.name, worded("shown on a page"))
    question = found.question
    token = found.units[question.units[0]].tokens[0] if question.units else None
    at: dict[str, Any] = {}
    if isinstance(found, EncoderDecoderExplanation):
        word = found.cross.word
        token = token if word is None else found.cross.units[word.units[0]].tokens[0]
        at = {} if token is None else {"trace": 0 if word is None else 2}
    state: dict[str, Any] = {"special": _special(question)}
    state |= {**at, "unit": "pieces" if question.unit == "piece" else "words"}
    if token is not None:
        state |= {"token": token}
    if found.steps is not None:
        state |= {"view": "steps", "layer": question.layer, "head": found.steps.head}
    elif question.head is not None:
        state |= {"layer": question.layer, "head": question.head}
    elif layer is not None:
        state |= {"layer": layer}
    page = Page(found.traces, state)
    if len(found.traces) > 1:
        page.state |= {"other": [1, page.state["layer"], page.state["head"]]}
    return page


def add_effects(
    page: Page,
    found: Explanation,
    model: AnyModel | TextModel,
    *,
    heads_done: Callable[[int, int], None] | None = None,
) -> None:
    """Cut each head of an explanation's run, and add what changes to its page, whose file then shows it: in the vector
    of the question's word, or of the whole text; of a decoder in the next word's log-probability.

    Args:
        page: the page of the explanation.
        found: the explanation.
        model: its model.
        heads_done: called with the number of finished heads and of all heads.

    Raises:
        QuestionError: if the model is an encoder-decoder.
    """
    trace, question = page.traces[0], found.question
    asked: dict[str, Any] = {"embed": True} if trace.kind == "encoder" else {}
    if trace.kind == "encoder" and question.units:
        asked = {"token": question.token, "nth": question.nth, "special": True}
    effects = cut_heads(found.text, model=model, edges=0, edits=trace.edits, heads_done=heads_done, **asked)
    page.effects.append(replace(effects, trace=trace))


def comparison_page(found: Comparison) -> Page:
    """Make the page of a comparison.

    Raises:
        TraceError: as for `explanation_page`.
    """
    first, second = found.sides
    for side in found.sides:
        check_plain(side.trace.layers, side.trace.model.name, worded("shown on a page"))
    question = found.question
    head = "mean" if question.head is None else question.head
    token, partner = (side.units[side.token_units[0]].tokens[0] for side in (first, second))
    state = {"view": "compare", "layer": question.layer, "head": head, "token": token}
    state |= {"special": _special(question), "other": [1, question.layer, head], "partner": partner}
    return Page([side.trace for side in found.sides], state)


def _special(question: ExplainQuestion | CompareQuestion) -> str:
    """The page's state of special tokens."""
    return "shown" if question.special else "out" if question.shares else "grey"

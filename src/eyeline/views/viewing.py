"""`view`: make a page of texts and traces, or of surveys, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from eyeline.masks import Mask
from eyeline.surveys import Survey, SurveyError
from eyeline.traces import Trace, TraceError, record, text_model
from eyeline.traces.keep import check_list
from eyeline.traces.layer_trace import check_plain
from eyeline.views.page.page import Page
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.models import Model
    from eyeline.views.surveys import SurveyPage


@overload
def view(shown: Survey | Sequence[Survey], *, state: Mapping[str, Any] | None = None) -> SurveyPage: ...


@overload
def view(
    shown: str | Trace | Sequence[str | Trace],
    *,
    model: str | os.PathLike[str] | Model = "minilm",
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    values: bool = True,
    keep: Sequence[str] = (),
    state: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Page: ...


def view(
    shown: str | Trace | Survey | Sequence[str | Trace] | Sequence[Survey],
    *,
    model: str | os.PathLike[str] | Model = "minilm",
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    values: bool = True,
    keep: Sequence[str] = (),
    state: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Page | SurveyPage:
    """Make a page of texts and traces, or of surveys. It displays itself in a notebook, and `save` writes it to a file.

    Args:
        shown: a text, which is recorded; a trace; or a list of these. Or a survey, or a list of two, which are shown
            beside each other; of the other arguments only `state` goes with these.
        model: the model that runs texts: a name from the catalogue, a folder, or a loaded model. (For a model of
            transformers, view the result of `eyeline.record`.)
        mask, scale: as for `eyeline.record`: texts run as trained, and a second time with these.
        values: whether to keep the values of texts.
        keep: heads, such as "L0H3", whose projections a file of the page has too; a notebook has every head's.
        state: the page's initial state, such as {"view": "matrix", "layer": 5, "head": 2}: L5H2. Layers,
            heads and tokens count from 0.
        progress: as for `eyeline.record`.

    Raises:
        TraceError, ModelError: as `eyeline.record`, or if the scores of a trace are more than scaled products (a cap, a
            bias, sinks), which the page can't show; a ValueError.
        SurveyError: if there are more than two surveys, or another argument goes with one; a ValueError.

    >>> page = view(["time flies like an arrow", "fruit flies like a banana"], state={"view": "compare"})
    >>> len(page.traces), page.header()["traces"][1]["queries"]["pieces"][1]
    (2, 'fruit')
    """
    if isinstance(shown, Survey) or (
        not isinstance(shown, (str, Trace)) and any(isinstance(one, Survey) for one in shown)
    ):
        settings = {"mask": mask, "scale": scale, "keep": keep or None, "model": None if model == "minilm" else model}
        return _of_surveys([shown] if isinstance(shown, Survey) else list(shown), settings, state)
    several = [shown] if isinstance(shown, (str, Trace)) else list(shown)
    if not several or not all(isinstance(one, (str, Trace)) for one in several):
        raise TraceError(worded("shown must be a text, a trace, or several of them, got {shown!r:.60}", shown=shown))
    check_list(keep)
    texts = any(isinstance(one, str) for one in several)
    if texts and hasattr(model, "named_modules"):
        raise TraceError(
            worded(
                "model must be one that Eyeline runs where texts are given, got one of torch; record them "
                "with eyeline.record(text, model=model, tokenizer=tokenizer), and view what that gives"
            )
        )
    if texts and isinstance(model, (str, os.PathLike)):
        from eyeline.models import load

        model = load(model, progress=progress)
    traces: list[Trace] = []
    for one in several:
        if isinstance(one, Trace):
            check_plain(one.layers, one.model.name, worded("shown on a page"))
            traces.append(one)
            continue
        run = partial(record, one, model=model, values=values, keep=["input", "vectors", *keep], progress=progress)
        runs = [run(), *([] if mask is None and scale is None else [run(mask=mask, scale=scale)])]
        for made in runs:
            traces += made if isinstance(made, list) else [made]  # an encoder-decoder makes several
    models = {} if isinstance(model, (str, os.PathLike)) else {model.name: text_model(model)}
    return Page(traces, state, models)


def _of_surveys(surveys: Sequence[Any], settings: Mapping[str, object], state: Mapping[str, Any] | None) -> SurveyPage:
    from eyeline.views.surveys import SurveyPage

    for name, value in settings.items():
        if value is not None:
            raise SurveyError(
                worded("{name} can't go with a survey, which was measured already; leave it out", name=name)
            )
    if len(surveys) > 2:
        raise SurveyError(
            worded("shown must be one survey, or two, got {count}; view them two by two", count=len(surveys))
        )
    return SurveyPage(*surveys, state=state)

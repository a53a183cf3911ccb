"""`eyeline view`: the page in a browser, served from this machine to itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eyeline.cli.browser import serve_page
from eyeline.cli.edits import EditWords, Over, edits_of
from eyeline.cli.mistakes import mistake
from eyeline.cli.options import Mask, NoBrowser, Nth, Port
from eyeline.cli.progress import layers_shown, progress
from eyeline.cli.results import chosen_language
from eyeline.cli.texts import text_or_stdin
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.edits import Edit
    from eyeline.serving import Session, Source, SurveySession
    from eyeline.surveys.loading import Survey
    from eyeline.traces import TextModel, Trace


def view(
    context: typer.Context,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT|FILE|FOLDER]",
            help="A sentence, in quotes; a file of text, or a trace; a folder of them, a model's, or a survey's; "
            "- reads stdin.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[SURVEY]", help="A second survey's folder, shown beside the first.", show_default=False
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A name that `eyeline models` lists, or a folder. Default: minilm.")
    ] = None,
    mask: Mask = None,
    edit: EditWords = None,
    over: Over = None,
    layer: Annotated[
        int | None, typer.Option(help="Open at this layer, from 0. Default: the head's.", show_default=False)
    ] = None,
    head: Annotated[
        int | None, typer.Option(help="At this head, from 0. Default: the most telling one.", show_default=False)
    ] = None,
    token: Annotated[str | None, typer.Option(help="With this word pinned.", show_default=False)] = None,
    nth: Nth = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
) -> None:
    """Show attention in the browser, and take new sentences there; or show a survey. All stays on this machine; Ctrl-C
    ends it."""
    from eyeline.answers import QuestionError
    from eyeline.models.catalogue import CATALOGUE
    from eyeline.serving import Session, Source, source_of
    from eyeline.views.page import Page

    source = Source(text=text_or_stdin(text)) if text == "-" else source_of(text)
    folder = source.survey
    if folder is not None:
        given = {"model": model, "mask": mask, "edit": edit or None, "over": over, "token": token, "nth": nth}
        serve_page(lambda: _surveyed(folder, other, layer, head, given), port, no_browser)
        return
    if other is not None:
        context.fail(f"Got unexpected extra argument ({other})")  # a sentence without quotes is told of as ever
    if source.model is not None and model is not None:
        raise QuestionError(worded("a model's folder and --model can't go together; leave out one of them"))
    named = source.model or model or "minilm"

    def made() -> Session:
        if text is None and model is None and mask is None and not edit:
            return _with_lesson(layer, head, token, nth)
        ready: dict[str, TextModel] = {}
        traces = _first(source, named, mask is not None, edits_of(edit, over, named), ready)
        # The last trace is the one with the mask or the edits, if there are any.
        state = {"trace": len(traces) - 1, **_state(traces[-1], layer, head, token, nth), **chosen_language()}
        return Session(Page(traces, state), list(dict.fromkeys([named, *CATALOGUE])), source.files, ready)

    serve_page(made, port, no_browser)


def _surveyed(
    folder: str, other: str | None, layer: int | None, head: int | None, given: Mapping[str, object]
) -> SurveySession:
    """The session of a survey, or of two; it opens at a head's page if one is named."""
    from eyeline.answers import QuestionError
    from eyeline.answers.question import counted
    from eyeline.serving import SurveySession
    from eyeline.views.surveys import SurveyPage

    for name, value in given.items():
        if value is not None:
            line = worded(
                "{option} can't go with a survey, which was measured already; leave it out", option=f"--{name}"
            )
            raise QuestionError(line)
    surveys = [_loaded(one) for one in (folder, other) if one is not None]
    model, state = surveys[0].model, dict[str, object](chosen_language())
    for name, value, count in (("layer", layer, model.layers), ("head", head, model.heads)):
        if value is not None:
            state |= {"view": "head", name: counted(name, value, count, model.name)}
    return SurveySession(SurveyPage(*surveys, state=state))


def _loaded(folder: str) -> Survey:
    """A survey; of one that isn't complete, what there is so far."""
    from eyeline.serving.survey_session import loaded

    survey = loaded(folder)
    if not survey.complete:
        progress(worded("{folder} isn't complete: what it has so far is shown", folder=folder))
    return survey


def _with_lesson(layer: int | None, head: int | None, token: str | None, nth: int | None) -> Session:
    """The session that opens with an example, and has the lesson beside it."""
    from eyeline.models import load
    from eyeline.models.catalogue import CATALOGUE
    from eyeline.serving import Session
    from eyeline.views.page import Page, lesson

    model = load("minilm", progress=progress)
    page = lesson(model=model, progress=progress)
    example = page.traces[0]
    asked = {"token": page.state["token"], **_state(example, layer, head, token, nth)}
    page.state = {**Page([example], asked).state, "stop": None, **chosen_language()}
    return Session(page, list(CATALOGUE), (), {"minilm": model})


def _first(source: Source, model: str, causal: bool, edits: list[Edit], ready: dict[str, TextModel]) -> list[Trace]:
    """The page's first traces; for a folder, those of its first file, if that can be shown."""
    from eyeline.answers import QuestionError
    from eyeline.serving.source import EXAMPLE
    from eyeline.traces import load_trace
    from eyeline.views.labels import printable

    if source.file is not None and source.file.kind == "trace" and (causal or edits):
        option = "--mask" if causal else "--edit"
        raise QuestionError(
            worded(
                "a trace and {option} can't go together, for it was run already; leave out one of them", option=option
            )
        )
    file = source.file or next(iter(source.files), None)
    try:
        if file is not None and file.kind == "trace":
            return [load_trace(file.path)]
        text = source.text if file is None else file.text()
        assert text is not None
        return _recorded(text, model, causal, edits, ready)
    except Exception as error:
        line = mistake(error)
        if not source.files or line is None:
            raise
        progress(worded("{name} can't be shown: {line}", name=printable(source.files[0].name), line=line))
        return _recorded(EXAMPLE, model, causal, [], ready)


def _recorded(text: str, model: str, causal: bool, edits: list[Edit], ready: dict[str, TextModel]) -> list[Trace]:
    """Record a text, as trained and with the mask and the edits; the model is kept in `ready`."""
    from eyeline.answers import QuestionError
    from eyeline.answers.question import asked_model, read_text
    from eyeline.serving import kept_of
    from eyeline.traces import record_text
    from eyeline.traces.own_encoder_decoder import only_decoder_is_causal
    from eyeline.traces.parts import records_parts

    if model not in ready:
        ready[model] = asked_model(model, progress=progress)
    runs_on = ready[model]
    read = read_text(runs_on, text)
    keep = kept_of(len(read.tokens))
    if records_parts(runs_on):
        if causal:
            raise QuestionError(only_decoder_is_causal("causal"))
        return runs_on.record_parts(text, keep, edits=edits).traces
    mask: Literal["causal"] | None = "causal" if causal else None
    with layers_shown() as layer_done:
        traces = [record_text(runs_on, read, keep=keep, layer_done=layer_done)]
        if causal or edits:
            traces.append(record_text(runs_on, read, keep=keep, mask=mask, edits=edits, layer_done=layer_done))
        return traces


def _state(trace: Trace, layer: int | None, head: int | None, token: str | None, nth: int | None) -> dict[str, Any]:
    """The page's initial state."""
    from eyeline.answers import QuestionError
    from eyeline.answers.question import counted

    state: dict[str, Any] = {}
    if layer is not None:
        state["layer"] = counted("layer", layer, trace.model.layers, trace.model.name)
    if head is not None:
        state["head"] = counted("head", head, trace.model.heads, trace.model.name)
    if token is not None:
        state["token"] = _place(trace, token, nth)
    elif nth is not None:
        raise QuestionError(worded("token must be given with nth"), worded("add token=..."), worded("add --token WORD"))
    return state


def _place(trace: Trace, token: str, nth: int | None) -> int:
    """The position of a word's first token."""
    from eyeline.models.units import Unit
    from eyeline.traces.word_search import find

    line = trace.queries
    units = []
    for word in line.words:
        text = line.pieces[word.tokens[0]] if word.span is None else line.text[slice(*word.span)]
        units.append(Unit(text, word.span, tuple(range(*word.tokens)), bare=not text.strip()))
    return units[find(token, nth, units, line.text, special=True).units[0]].tokens[0]

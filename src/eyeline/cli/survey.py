"""`eyeline survey`: what every head does over a whole corpus."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyeline.cli.examples import EXAMPLES
from eyeline.cli.options import AsJson, ModelName
from eyeline.cli.progress import progress
from eyeline.cli.results import check_results, chosen_language, draw, print_csv, print_json
from eyeline.cli.survey_progress import SurveyShown
from eyeline.words import local_number, worded

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey

#: The options that say how to show a survey; all others say how to make one.
_SHOWING = ("corpus", "out", "html", "headvis", "as_json", "as_csv")


class EngineName(StrEnum):
    """What measures."""

    local = "local"
    ray = "ray"


def survey(
    ctx: typer.Context,
    corpus: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CORPUS",
            help="Files, folders and patterns: .txt .md .jsonl .csv .tsv .parquet, also .gz .zst .bz2 .xz; URIs such "
            "as s3://. Or the folder of a survey, which is shown.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="The survey's folder, new or its own.", show_default=False),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="The column of the text. Default: text, or the only one with text.", show_default=False),
    ] = None,
    model: ModelName = "minilm",
    window: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS",
            help="The most tokens read at once. Default: as many as the model can.",
            show_default=False,
        ),
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS", help="Tokens that a long text's windows share. Default: 1/8.", show_default=False
        ),
    ] = None,
    block: Annotated[
        int | None,
        typer.Option(
            metavar="CHARACTERS",
            help="The text that is measured and kept at once. Default: 131072.",
            show_default=False,
        ),
    ] = None,
    examples: Annotated[int, typer.Option(metavar="N", help="Examples of each head: largest, and a sample.")] = 16,
    classes: Annotated[
        str | None,
        typer.Option(metavar="MODULE:FUNCTION", help="Your function that labels tokens.", show_default=False),
    ] = None,
    on: Annotated[EngineName, typer.Option(help="Measure in this process, or by Ray's workers.")] = EngineName.local,
    address: Annotated[
        str | None, typer.Option(help="Of Ray's cluster. Default: this machine.", show_default=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Of Ray. Default: one for each processor.", show_default=False)
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Start over; deletes the survey in --out.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first thing that can't be read.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a report: a page of one file, under 5 MB.", show_default=False),
    ] = None,
    headvis: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write the JSON files that HeadVis reads.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a line for each head as CSV, in UTF-8.")] = False,
) -> None:
    """Survey what every head does over a whole corpus, or show a survey that is there."""
    check_results(as_json, as_csv, html=html)
    _check_targets(html, headvis)
    folder = _of_survey(corpus, out)
    if folder is None:
        given = {name: value for name, value in ctx.params.items() if name not in _SHOWING}
        found = _made(corpus or [], out or "", given)
    else:
        _check_shown(ctx)
        found = _there(folder)
    if html is not None:
        _save_html(found, html)
    if headvis is not None:
        _save_headvis(found, headvis)
    if as_json:
        print_json(found)
    elif as_csv:
        print_csv(found)
    else:
        draw(found)


def _check_targets(html: Path | None, headvis: Path | None) -> None:
    """Check, before a survey of hours, that what it is to write can go there."""
    from eyeline.answers import QuestionError

    if html is not None and not html.parent.is_dir():
        raise QuestionError(
            worded(
                "--html must be in a folder that exists, got {file!r}; make {folder} first",
                file=str(html),
                folder=html.parent,
            )
        )
    if headvis is not None and headvis.exists() and (not headvis.is_dir() or any(headvis.iterdir())):
        raise QuestionError(
            worded("--headvis must be a folder that is new or empty, got {folder!r}", folder=str(headvis))
        )


def _of_survey(corpus: list[str] | None, out: str | None) -> str | None:
    """The folder of the survey to show; None to make one."""
    from eyeline.answers import QuestionError

    if not corpus:
        if out is None:
            raise QuestionError(
                worded("corpus must be files or a folder, got none; such as: {command}", command=_first_example())
            )
        return out
    if out is None:
        if len(corpus) == 1 and _is_survey(corpus[0]):
            return corpus[0]
        raise QuestionError(worded("--out must be the folder of the survey, got none; add --out survey"))
    return None


def _is_survey(path: str) -> bool:
    from eyeline.surveys.folder import ABOUT, SurveyFolder

    return SurveyFolder(path).has(ABOUT) if "://" in path else os.path.isfile(os.path.join(path, ABOUT))


def _first_example() -> str:
    return EXAMPLES["survey"][0]


def _check_shown(ctx: typer.Context) -> None:
    """Check that no option is given that only a survey that is made takes."""
    from eyeline.answers import QuestionError

    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name not in _SHOWING and source is not None and source.name == "COMMANDLINE":
            raise QuestionError(
                worded("{option} must come with a corpus, got a survey that is there", option=parameter.opts[0])
            )


def _there(folder: str) -> Survey:
    """The survey in a folder; of one that isn't whole, what there is."""
    from eyeline.surveys import load_survey
    from eyeline.views import attach_survey  # noqa: F401  # so that it prints itself

    found = load_survey(folder)
    return found if found.complete else found.so_far()


def _made(corpus: list[str], out: str, given: Mapping[str, Any]) -> Survey:
    """The survey of a corpus, made or gone on with."""
    from eyeline.surveys import survey as made
    from eyeline.surveys.corpus import corpus_of_files
    from eyeline.views import attach_survey  # noqa: F401  # so that it prints itself

    if given["classes"]:
        sys.path.insert(0, os.getcwd())  # the user's module is most likely here
    given = {**given, "on": str(given["on"])}
    with SurveyShown() as shown:
        try:
            found = made(corpus_of_files(corpus, given["column"]), out=out, progress=shown, **given)
        except KeyboardInterrupt:
            shown.close()
            progress(_stopped(shown, out))
            raise
    progress(_done(found, out))
    return found


def _stopped(shown: SurveyShown, out: str) -> str:
    """What is kept of a survey that was interrupted, and how to go on."""
    from eyeline.surveys import SurveyError, load_survey

    count = 0 if shown.last is None else shown.last.documents
    with suppress(SurveyError, OSError):  # of an earlier run, which this one didn't come to
        count = max(count, load_survey(out).info["counts"]["documents"])
    if not count:
        return worded("stopped, with nothing measured yet")
    return worded(
        "stopped; {count} documents are kept in {folder}, and the same command goes on from there",
        count=local_number(count),
        folder=out,
    )


def _done(found: Survey, out: str) -> str:
    """What was measured, what was skipped, and where it is."""
    from eyeline.surveys.corpus import reason_in_words

    counts, skipped = found.info["counts"], found.info["skipped"]["counts"]
    line = worded(
        "wrote {folder}: {documents} documents, {tokens} tokens",
        folder=out,
        documents=local_number(counts["documents"]),
        tokens=local_number(counts["tokens"]),
    )
    if not skipped:
        return line
    each = ", ".join(f"{reason_in_words(reason)} {local_number(count)}" for reason, count in skipped.items())
    told = worded("skipped: {each} (see survey.json)", each=each)
    return f"{line}; {told}"


def _save_html(found: Survey, html: Path) -> None:
    """Write the report, and report that."""
    from eyeline.views.surveys.page import SurveyPage

    SurveyPage(found, state=chosen_language()).save(html)
    progress(worded("wrote {file}", file=html))


def _save_headvis(found: Survey, folder: Path) -> None:
    """Write HeadVis' files, and report that."""
    from eyeline.surveys.headvis import write_headvis

    write_headvis(found, folder)
    progress(worded("wrote {file}", file=folder))

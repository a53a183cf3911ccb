"""The state of `eyeline view` of a survey: its page, and the page of the documents that are opened in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyeline.models.catalogue import CATALOGUE
from eyeline.serving.jobs import Job
from eyeline.serving.refusal import RefusalError
from eyeline.serving.session import Session, kept_of
from eyeline.surveys import SurveyError
from eyeline.surveys.example_window import example_window
from eyeline.surveys.folder import ABOUT, SurveyFolder
from eyeline.surveys.loading import load_survey
from eyeline.traces import Cancelled, ReadText, record_text
from eyeline.views.page import Page
from eyeline.views.page.requests.request import RequestError
from eyeline.views.surveys import SurveyPage
from eyeline.views.surveys.requests import examples
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey


class SurveySession:
    """A survey's page, and what may be opened from it.

    Args:
        page: the page.

    Attributes:
        page: the page.
        texts: the session of the documents that were opened; None if none can be: no survey's model is one of ours.
    """

    def __init__(self, page: SurveyPage) -> None:
        self.page = page
        self._stamps = stamps(page)
        self._models = [own_model(survey.info["model"]) for survey in page.surveys]
        known = list(dict.fromkeys(filter(None, self._models)))
        self.texts = Session(Page([]), [*known, *(name for name in CATALOGUE if name not in known)]) if known else None

    def header(self) -> dict[str, Any]:
        """The page's header, and for each survey whether its documents can be opened; else what is missing. Surveys
        that were written anew since are loaded anew."""
        self._renew()
        try:
            header = self.page.header()
        except SurveyError as error:
            raise RefusalError(409, "survey", str(error)) from None
        return {
            **header,
            "can": {**header.get("can", {}), "open": [self._opens(at) for at in range(len(self._models))]},
        }

    def answer(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[memoryview]]:
        """Answer a request of the page. Raises RefusalError if it can't be answered, or the page's header is of a
        survey that has been written anew since."""
        for survey, before, now in zip(self.page.surveys, self._stamps, stamps(self.page), strict=True):
            # One that was running is shown as it was then: it is in memory.
            if survey.complete and before != now:
                line = worded(
                    "{folder} must be as it was when this page was loaded, and was changed since; load this page again",
                    folder=survey.folder,
                )
                raise RefusalError(409, "other", line)
        try:
            return self.page.answer(request)
        except RequestError as error:
            raise RefusalError(400, error.argument, error.message) from None

    def open(self, sent: Mapping[str, Any]) -> Job:
        """Start to open the document of an example: its window is recorded as the survey read it.

        Args:
            sent: `other`, `layer`, `head`, `sort` and `rank`, which name the example.

        Raises:
            RefusalError: if they name none, its model isn't one of ours, or another job runs.
        """
        known = ("other", "layer", "head", "sort", "rank")
        for key in sent:
            if key not in known:
                raise RefusalError(
                    400,
                    key[:40],
                    worded("body must hold none but {known}, got {key!r}", known=", ".join(known), key=key[:40]),
                )
        rank = sent.get("rank")
        try:
            found = examples.answer(self.page, {**sent, "first": rank, "count": 1, "sort": sent.get("sort")})[0]
        except RequestError as error:
            argument = "rank" if error.argument == "first" else error.argument
            raise RefusalError(400, argument, error.message.replace("first", "rank", 1)) from None
        if not found["examples"]:
            raise RefusalError(400, "rank", worded("rank must be that of an example, got {rank!r:.40}", rank=rank))
        at = int(sent["other"])
        name = self._models[at]
        if name is None or self.texts is None:
            raise RefusalError(400, "other", worded("other must be a survey of a model that Eyeline runs, got another"))
        example = found["examples"][0]
        return self.texts.jobs.start(lambda job: self._run(at, name, example, job))

    def close(self) -> None:
        """Stop the running job."""
        if self.texts is not None:
            self.texts.close()

    def _run(self, at: int, name: str, example: Mapping[str, Any], job: Job) -> dict[str, Any]:
        assert self.texts is not None
        survey = self.page.surveys[at]
        model = self.texts.model(name, job)
        tokens = example_window(survey.info, survey.folder, example, lambda text: model.read(text).tokens, job.say)
        job.layer_done(0, model.layers)
        trace = record_text(
            model, ReadText(tokens), keep=kept_of(len(tokens)), cancelled=job.cancelled, layer_done=job.layer_done
        )
        if job.cancelled():
            raise Cancelled
        return {"trace": self.texts.add([trace]), "token": int(example["query"])}

    def _renew(self) -> None:
        """Load surveys that were written anew since the page was made, as long as they can be loaded."""
        now = stamps(self.page)
        if now == self._stamps:
            return
        try:
            found = [loaded(survey.folder) for survey in self.page.surveys]
        except SurveyError:
            return  # the header is of what there was, and requests say that it is gone
        self.page, self._stamps = SurveyPage(*found, state=self.page.state), now
        self._models = [own_model(survey.info["model"]) for survey in found]

    def _opens(self, at: int) -> str:
        """ "yes", or what is missing: "model", "corpus"."""
        if self._models[at] is None:
            return "model"
        files = self.page.surveys[at].info["corpus"]["files"]
        return "yes" if any(file["path"] for file in files) else "corpus"


def loaded(folder: str) -> Survey:
    """The survey in a folder; of one that isn't complete, what there is so far.

    Raises:
        SurveyError: if it can't be loaded, or its table of heads can't be read.
    """
    survey = load_survey(folder)
    survey = survey if survey.complete else survey.so_far()
    survey.heads(arrow=True)  # so that a table that is missing or damaged is said now
    return survey


def stamps(page: SurveyPage) -> list[object]:
    """What changes once a survey of a page is written anew; None for one that is gone."""

    def stamp(folder: str) -> object:
        try:
            return SurveyFolder(folder).stamp(ABOUT)
        except OSError:
            return None

    return [stamp(survey.folder) for survey in page.surveys]


def own_model(info: Mapping[str, Any]) -> str | None:
    """The name or folder by which Eyeline runs a survey's model; None if it doesn't."""
    if info["name"] in CATALOGUE:
        return str(info["name"])
    source = Path(str(info.get("source", "")))
    folder = source if source.is_dir() else source.parent
    return str(folder) if (folder / "config.json").is_file() and (folder / "model.safetensors").is_file() else None

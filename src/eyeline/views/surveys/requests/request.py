"""What a survey's requests are answered with: the surveys, checks of a request's keys, plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from eyeline.surveys import SurveyError
from eyeline.views.page.requests.request import Reply, Request, RequestError, whole
from eyeline.views.surveys.row_groups import LackingError
from eyeline.words import worded


class AskedModel(Protocol):
    """A survey's model: how many layers it has, and heads in each."""

    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...


class AskedSurvey(Protocol):
    """A survey that is asked: `eyeline.surveys.loading.Survey`, or one as it is so far, whose tables are in memory."""

    @property
    def folder(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def model(self) -> AskedModel: ...
    def tokens(self, layer: int | None, head: int | None, *, arrow: bool) -> Any:
        """As `Survey.tokens`."""

    def examples(self, layer: int | None, head: int | None, sort: str | None, *, arrow: bool) -> Any:
        """As `Survey.examples`."""


class AskedSurveyPage(Protocol):
    """The page that is asked: its surveys, one or two."""

    @property
    def surveys(self) -> Sequence[AskedSurvey]: ...


Answering = Callable[[AskedSurveyPage, Request], Reply]


@dataclass(frozen=True)
class AskedHead:
    """What a request is about: a survey and a head of its model."""

    survey: AskedSurvey
    layer: int
    head: int

    @property
    def where(self) -> dict[str, int]:
        """The values of the columns of its rows."""
        return {"layer": self.layer, "head": self.head}


def asked(page: AskedSurveyPage, request: Request) -> AskedHead:
    """The survey (its number is `other`), layer and head that a request names, checked."""
    survey = page.surveys[whole(request, "other", 0, len(page.surveys) - 1)]
    layer = whole(request, "layer", 0, survey.model.layers - 1)
    return AskedHead(survey, layer, whole(request, "head", 0, survey.model.heads - 1))


def refusing(answer: Answering) -> Answering:
    """The same, where a survey's files that can't be read refuse the request: it names `other`, and says why; or
    `file`, if the survey's folder lacks one."""

    @wraps(answer)
    def answered(page: AskedSurveyPage, request: Request) -> Reply:
        try:
            return answer(page, request)
        except LackingError as error:
            raise RequestError("file", str(error)) from None
        except SurveyError as error:
            raise RequestError("other", str(error)) from None

    return answered


def one_of(request: Request, name: str, values: Sequence[str]) -> str:
    """A text of a request that must be one of several."""
    value = request.get(name)
    if not isinstance(value, str) or value not in values:
        raise RequestError(
            name,
            worded("{name} must be {values}, got {value!r:.40}", name=name, values=" or ".join(values), value=value),
        )
    return value


def plain(value: Any) -> Any:
    """Numbers for JSON: of six digits, null for NaN, also within lists.

    >>> plain([0.123456789, float("nan"), 3, "a"])
    [0.123457, None, 3, 'a']
    """
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value

"""What a survey's requests are answered with: the surveys, checks of a request's keys, plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from eyeline.views.page.requests.request import Request, RequestError, whole


class SurveyModel(Protocol):
    """A survey's model: how many layers it has, and heads in each."""

    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...


class AskedSurvey(Protocol):
    """A survey that is asked: its folder, survey.json and model."""

    @property
    def folder(self) -> Path: ...
    @property
    def info(self) -> Mapping[str, Any]: ...
    @property
    def model(self) -> SurveyModel: ...


#: How a kind of request is answered: with an object.
Answering = Callable[[Sequence[AskedSurvey], Request], dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """The head that a request names."""

    survey: AskedSurvey
    layer: int
    head: int


def asked(surveys: Sequence[AskedSurvey], request: Request) -> Asked:
    """The survey, layer and head that a request names, checked."""
    survey = surveys[whole(request, "survey", 0, len(surveys) - 1)]
    layer = whole(request, "layer", 0, survey.model.layers - 1)
    return Asked(survey, layer, whole(request, "head", 0, survey.model.heads - 1))


def one_of(request: Request, name: str, values: Sequence[str]) -> str:
    """A text of a request that must be one of several."""
    value = request.get(name)
    if not isinstance(value, str) or value not in values:
        raise RequestError(name, f"{name} must be {' or '.join(values)}, got {value!r:.40}")
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

"""survey.json: what it says of a survey, and reading it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from eyeline.answers.behaviour.head_measures import MEASURES, SINK_TOKENS
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.folder import ABOUT, SurveyFolder
from eyeline.surveys.merging import Merged
from eyeline.surveys.table_files import FORMAT, scales
from eyeline.words import worded


@dataclass(frozen=True)
class SurveyedModel:
    """The model of a survey: its name, its sizes, and whether its attention is causal."""

    name: str
    layers: int
    heads: int
    causal: bool


#: The keys of survey.json that a reader needs, and the type of each.
_KEYS: dict[str, type] = {
    "model.name": str,
    "model.layers": int,
    "model.heads": int,
    "model.causal": bool,
    "corpus": dict,
    "settings.window": int,
    "settings.largest": int,
    "settings.sample": int,
    "scales.types": list,
    "counts": dict,
    "skipped.counts": dict,
    "skipped.first": list,
    "state": str,
}
#: Those that it needs of a complete survey.
_COMPLETE: dict[str, type] = {
    "labels.kinds": list,
    "counts.documents": int,
    "counts.tokens": int,
    "counts.text_tokens": int,
    "counts.windows": int,
}


def with_merged(info: dict[str, Any], merged: Merged) -> dict[str, Any]:
    """survey.json of a complete survey: `info`, and what the merged tables say of scales, kinds and counts. What was
    skipped while measuring is added to what `info` has."""
    before = info.get("skipped") or {"counts": {}, "first": []}
    counts = dict(before["counts"])
    for reason, number in merged.skipped.counts.items():
        counts[reason] = counts.get(reason, 0) + number
    more = merged.skipped.as_json()["first"]
    return {
        **info,
        "scales": scales(merged.types),
        "labels": {
            "kinds": [asdict(label) for label in merged.labels],
            "measures": [asdict(measure) for measure in MEASURES],
            "sink_tokens": SINK_TOKENS,
        },
        "counts": {**info.get("counts", {}), **merged.counts},
        "skipped": {"counts": counts, "first": [*before["first"], *more][:100]},
        "state": "complete",
    }


def read_about(folder: SurveyFolder) -> dict[str, Any]:
    """Read survey.json, checked as far as a reader needs it.

    Raises:
        SurveyError: if there is none, it is of a newer version, or is damaged.
    """
    path = folder.path(ABOUT)
    try:
        if not folder.has():
            raise SurveyError(
                worded(
                    "folder must be a survey's folder, got {name}, which doesn't exist; eyeline survey … --out {name} "
                    "makes one",
                    name=repr(folder.name),
                )
            )
        if not folder.has(ABOUT):
            raise SurveyError(
                worded(
                    "folder must be a survey's folder, got {name}, which has no {file}; eyeline survey … --out FOLDER "
                    "makes one",
                    name=repr(folder.name),
                    file=ABOUT,
                )
            )
        info: dict[str, Any] = json.loads(folder.read(ABOUT))
    except (ValueError, RecursionError, OSError) as error:
        if isinstance(error, SurveyError):
            raise
        reason = " ".join(str(error).split())[:120]
        raise SurveyError(
            worded("{path} is damaged ({reason}); run the same survey again", path=path, reason=reason)
        ) from None
    version = info.get("format") if isinstance(info, dict) else None
    if version != FORMAT:
        kind, _, number = str(version).partition("/")
        if kind == FORMAT.partition("/")[0] and number.isdecimal():
            raise SurveyError(
                worded(
                    "{path} must be of the format {format}, got {got}, of a newer Eyeline; pip install -U eyeline",
                    path=path,
                    format=FORMAT,
                    got=version,
                )
            )
        raise SurveyError(
            worded(
                "{path} must be of the format {format}, got {got}; it is no survey of Eyeline's",
                path=path,
                format=FORMAT,
                got=repr(version),
            )
        )
    for key, kind_of in (_KEYS | (_COMPLETE if info.get("state") == "complete" else {})).items():
        value: Any = info
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if not isinstance(value, kind_of):
            raise SurveyError(
                worded(
                    "{path} must have {key} of the type {type}, got {got}; run the same survey again",
                    path=path,
                    key=repr(key),
                    type=kind_of.__name__,
                    got=type(value).__name__,
                )
            )
    return info

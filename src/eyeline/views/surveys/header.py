"""The header of a survey's page: what the map needs of one or two surveys, as plain data.

`{schema, version, title, can, state, surveys}`. Each of `surveys` has the corpus' `name`, `model`, `corpus`,
`settings`, `counts`, `skipped`, `labels` (the kinds, their measures and thresholds), `scales` and `induction` as
survey.json has them, in short; and a table of the heads, flat, by layer and head: `kinds`, lists of their short names;
`measures` and `spread` (the standard deviation over documents) by name; `to` and `received` by type of token; and the
distributions `offsets`, `entropies` and `largest`, a list each. A number that there is none for is null. `holds` are
the tables of heads that can be asked for: a copy of a survey may be survey.json and heads.parquet alone. In a file,
`examples` says of how many heads it has the examples.
"""

from __future__ import annotations

import math
import os.path
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eyeline.answers.behaviour.head_labels import LABELS, MIXED
from eyeline.surveys.folder import EXAMPLES, TOKENS, SurveyFolder
from eyeline.surveys.tally import MEASURES
from eyeline.version import VERSION
from eyeline.views.labels import printable

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey

#: The version of the header's format.
SCHEMA = "eyeline.survey-page/1"
#: The most files of a corpus that are named.
FILES = 20
#: The most characters of a corpus' name.
_NAME = 60
_KEYS = {label.label: label.key for label in LABELS}
_LISTS = ("offsets", "entropies", "largest")


def header_of(surveys: Sequence[Survey], state: Mapping[str, Any]) -> dict[str, Any]:
    """The header, as plain data.

    Args:
        surveys: one, or two that are compared.
        state: the page's initial state.
    """
    entries = [entry_of(survey) for survey in surveys]
    if len(entries) == 2 and len({(entry["name"], entry["model"]["name"]) for entry in entries}) == 1:
        for entry, survey in zip(entries, surveys, strict=True):  # else nothing would tell them apart
            entry["name"] = _shortened(f"{entry['name']} ({os.path.basename(survey.folder.rstrip('/'))})")
    title = " – ".join(f"{entry['name']} · {entry['model']['name']}" for entry in entries)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "title": title,
        "can": {"run": False, "models": []},
        "state": dict(state),
        "surveys": entries,
    }


def entry_of(survey: Survey) -> dict[str, Any]:
    """One survey's entry; of one that isn't complete, what there is so far."""
    found = survey if survey.complete else survey.so_far()
    info = found.info
    table: dict[str, list[Any]] = found.heads(arrow=True).to_pydict()
    corpus = info["corpus"]
    files = corpus.get("files") or []
    measured = [name for name in (*MEASURES, "induction") if name in table]
    return {
        "name": corpus_name(info),
        "model": {name: info["model"].get(name) for name in ("name", "layers", "heads", "causal", "family", "sha256")},
        "corpus": {
            "files": [{"path": file.get("path", ""), "documents": file.get("documents")} for file in files[:FILES]],
            "file_count": len(files),
            "column": corpus.get("column"),
            "documents": corpus.get("documents") or info["counts"].get("documents") or 0,
            "characters": corpus.get("characters") or 0,
        },
        "settings": info["settings"],
        "counts": {name: info["counts"].get(name) or 0 for name in ("documents", "tokens", "text_tokens", "windows")},
        "skipped": {"counts": info["skipped"].get("counts") or {}},
        "labels": _labels(info),
        "scales": {**info["scales"], "types": list(found.types)},
        "induction": _induction(info),
        "version": str(info.get("eyeline", "")),
        "complete": survey.complete,
        "holds": holds(survey),
        "kinds": [[_KEYS.get(kind, kind) for kind in kinds] for kinds in table["kinds"]],
        "measures": {name: numbers(table[name]) for name in measured},
        "spread": {name: numbers(table[f"{name}_sd"]) for name in MEASURES if f"{name}_sd" in table},
        **{
            side: {kind: numbers([row[at] for row in table[side]]) for at, kind in enumerate(found.types)}
            for side in ("to", "received")
        },
        **{name: [numbers(row, 4) for row in table[name]] for name in _LISTS},
        "examples": None,
    }


def holds(survey: Survey) -> list[str]:
    """Which of the tables that a head's page asks for the survey's folder has: none while it is running."""
    if not survey.complete:
        return []
    folder = SurveyFolder(survey.folder)
    return [kind for kind, name in (("tokens", TOKENS), ("examples", EXAMPLES)) if folder.has(name)]


def corpus_name(info: Mapping[str, Any]) -> str:
    """A corpus in a few words: its file, or the folder of its first file and how many files there are.

    >>> corpus_name({"corpus": {"files": [{"path": "news/a.txt"}, {"path": "news/b.txt"}]}})
    'news (2)'
    """
    paths = [str(file.get("path", "")) for file in info["corpus"].get("files") or []]
    paths = [path for path in paths if path]
    if not paths:
        return "texts"
    if len(paths) == 1:
        return _shortened(os.path.basename(paths[0].rstrip("/")) or paths[0])
    folder = os.path.basename(os.path.dirname(paths[0]))
    return _shortened(f"{folder or os.path.basename(paths[0])} ({len(paths)})")


def numbers(values: Sequence[float | None], digits: int = 5) -> list[float | None]:
    """Numbers in so many digits; None for NaN and infinities, which JSON lacks."""
    return [None if one is None or not math.isfinite(one) else _rounded(one, digits) for one in values]


def _rounded(value: float, digits: int) -> float:
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e9 else rounded


def _shortened(text: str) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"


def _labels(info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The kinds that could apply; of a survey that is running, those that can."""
    kinds = (info.get("labels") or {}).get("kinds") or [
        {"key": label.key, "measure": label.measure, "above": label.above, "source": label.source} for label in LABELS
    ]
    return [{name: kind[name] for name in ("key", "measure", "above", "source")} for kind in kinds if kind != MIXED]


def _induction(info: Mapping[str, Any]) -> dict[str, Any] | None:
    found = info.get("induction")
    return {name: found.get(name) for name in ("length", "draws")} if found else None

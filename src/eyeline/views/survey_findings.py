"""What a survey found, in sentences: its size, its kinds of heads, and the most extreme heads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eyeline.surveys.corpus import reason_in_words
from eyeline.surveys.document import REASONS
from eyeline.version import VERSION
from eyeline.views.labels import head_name, percent, printable
from eyeline.words import local_number, page_text, worded

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey

Row = Mapping[str, Any]
MIXED = "mixed"
_FEW = 3  # how many heads are named, of each kind and of each end
_FILES = 2  # how many files are named


def kind_name(key: str) -> str:
    """The name of a kind of head, by its key, in the current language.

    >>> kind_name("previous")
    'previous token'
    """
    return page_text(f"kind.{key}")


def size(survey: Survey) -> str:
    """The survey's first sentence."""
    counts, model = survey.info["counts"], printable(survey.model.name)
    if not survey.tabled:
        documents = survey.info["corpus"].get("documents")
        if documents is None:
            return worded("{model} over a corpus", model=model)
        return worded("{model} over a corpus of {documents} documents", model=model, documents=local_number(documents))
    return worded(
        "{model} over {documents} documents, {tokens} tokens",
        model=model,
        documents=local_number(counts["documents"]),
        tokens=local_number(counts["tokens"]),
    )


def provenance(survey: Survey) -> str:
    """What the survey is of, in one line."""
    counts, settings = survey.info["counts"], survey.info["settings"]
    paths = [file["path"] for file in survey.info["corpus"].get("files") or []]
    files = [printable(path) if path else worded("texts that were given") for path in paths]
    named = files[:_FILES]
    if len(files) > _FILES:
        named.append(worded("{count} files more", count=local_number(len(files) - _FILES)))
    sizes = [
        worded("{tokens} tokens of text", tokens=local_number(counts["text_tokens"])),
        worded(
            "{windows} windows of at most {window} tokens",
            windows=local_number(counts["windows"]),
            window=local_number(settings["window"]),
        ),
    ]
    parts = [
        worded("{layers} layers × {heads} heads", layers=survey.model.layers, heads=survey.model.heads),
        *(sizes if survey.tabled else []),
        *named,
        f"eyeline {VERSION}",
    ]
    return " · ".join(parts)


def unfinished(survey: Survey) -> str:
    """How far a survey is that isn't complete."""
    done, blocks = survey.blocks_done, survey.info["counts"].get("blocks")
    if blocks is None:
        return worded("Not complete: {done} blocks are measured.", done=local_number(done))
    return worded(
        "Not complete: {done} of {blocks} blocks are measured.", done=local_number(done), blocks=local_number(blocks)
    )


def counted_kinds(survey: Survey, rows: Sequence[Row]) -> list[tuple[str, str, int, list[Row], dict[str, Any] | None]]:
    """For each kind, by precedence: its label, its name, how many heads are of it, the clearest of them, and its
    definition; mixed, which has none, last."""
    counts = Counter(row["kind"] for row in rows)
    found = []
    for kind in survey.info["labels"]["kinds"]:
        own = [row for row in rows if row["kind"] == kind["label"]]
        clearest = sorted(own, key=lambda row: -row[kind["measure"]])[:_FEW]
        found.append((kind["label"], kind_name(kind["key"]), counts[kind["label"]], clearest, kind))
    return [*found, (MIXED, kind_name(MIXED), counts[MIXED], [], None)]


def figure(measure: str, value: float) -> str:
    """A measure's value: entropies with two digits, distances with one up to 100, shares in percent."""
    if math.isnan(value):
        return "–"
    return local_number(value, _digits(measure, value)) if measure in ("entropy", "distance") else percent(value)


def _digits(measure: str, value: float) -> int:
    return 2 if measure == "entropy" else 1 if value < 99.95 else 0


def names(rows: Sequence[Row], measure: str) -> list[str]:
    """Heads, each with its value."""
    return [f"{head_name(row['layer'], row['head'])} {figure(measure, row[measure])}" for row in rows]


def extremes(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The ends: what is most about these heads, and the heads with their values and deviations over documents."""
    ends = (
        (worded("widest"), "entropy", False, worded("nats")),
        (worded("sharpest"), "entropy", True, worded("nats")),
        (worded("farthest"), "distance", False, worded("tokens")),
    )
    found = []
    for title, measure, least, unit in ends:
        known = [row for row in rows if not math.isnan(row[measure])]
        known.sort(key=lambda row: row[measure] if least else -row[measure])
        heads = [
            f"{head_name(row['layer'], row['head'])} {figure(measure, row[measure])} ± "
            f"{local_number(row[f'{measure}_sd'], _digits(measure, row[measure]))}"
            for row in known[:_FEW]
        ]
        if heads:
            found.append((title, f"{', '.join(heads)} {unit}"))
    return found


def skipped(survey: Survey) -> str:
    """What was skipped, by reason; empty if nothing was."""
    counts: dict[str, int] = survey.info["skipped"]["counts"]
    if not sum(counts.values()):
        return ""
    reasons = ", ".join(
        f"{reason_in_words(reason) if reason in REASONS else printable(reason)}: {local_number(count)}"
        for reason, count in counts.items()
        if count
    )
    return worded(
        "Skipped: {count} ({reasons}); survey.json lists the first of them.",
        count=local_number(sum(counts.values())),
        reasons=reasons,
    )


def lost(survey: Survey) -> str:
    """How many workers were lost on the way; empty if none was."""
    count = survey.info["counts"].get("workers_lost") or 0
    return worded("Workers lost on the way: {count}; others measured their blocks.", count=count) if count else ""


def found(survey: Survey, rows: Sequence[Row]) -> str:
    """The sentence that counts the heads of each kind, most first."""
    kinds = [(name, count) for _, name, count, _, kind in counted_kinds(survey, rows) if count and kind]
    kinds.sort(key=lambda pair: -pair[1])
    mixed = sum(row["kind"] == MIXED for row in rows)
    pairs = [*kinds, *([(kind_name(MIXED), mixed)] if mixed else [])]
    return worded(
        "Of {count} heads: {kinds}.",
        count=len(rows),
        kinds=", ".join(f"{name} {count}" for name, count in pairs),
    )


def rule(kind: dict[str, Any]) -> str:
    """The rule by which a kind is given."""
    return worded("{measure} above {value}", measure=kind["measure"], value=f"{kind['above']:g}")

"""What heads do, as plain data, CSV and a DataFrame."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from eyeline.answers.behaviour.measures import MEASURES
from eyeline.answers.documents import model_entry, number
from eyeline.version import VERSION
from eyeline.views import document
from eyeline.views.labels import printable

if TYPE_CHECKING:
    from pandas import DataFrame

    from eyeline.answers.behaviour.heads import Heads

SCHEMA = "eyeline.heads/1"
_NAMES = [measure.name for measure in MEASURES]


def heads_document(found: Heads) -> document.Heads:
    """What heads do, as plain data."""
    tokens, kinds = found.tokens, found.kinds
    texts = [tokens.text[first:last].strip() for first, last in tokens.offsets]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "model": model_entry(found.model, found.sizes),
        "causal": found.causal,
        "text": tokens.text,
        "token_count": len(tokens),
        "whole_count": found.cut_from,
        "special_tokens": _each(tokens.pieces, kinds.special.tolist()),
        "punctuation_tokens": _each(texts, kinds.punctuation.tolist()),
        "sink_tokens": found.sink_tokens,
        "repeated_tokens": found.repeated,
        "repeated_draws": found.draws,
        "measures": [
            {"name": one.name, "unit": one.unit, "meaning": one.meaning, "source": one.source} for one in MEASURES
        ],
        "labels": [
            {"label": one.name, "key": one.key, "measure": one.measure, "above": one.above, "source": one.source}
            for one in found.defined
        ],
        "heads": [cast(document.HeadEntry, entry) for entry in _entries(found)],
    }


def _each(texts: Iterable[str], chosen: Iterable[bool]) -> list[str]:
    """Each of the chosen texts once, in order."""
    return list(dict.fromkeys(text for text, here in zip(texts, chosen, strict=True) if here))


def _entries(found: Heads) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for layer, row in enumerate(found.labels):
        for head, names in enumerate(row):
            values = {name: float(found.table[name][layer, head]) for name in _NAMES}
            numbers = {name: None if value != value else number(value) for name, value in values.items()}
            entries.append({"layer": layer + 1, "head": head + 1, "label": names[0], "labels": list(names)} | numbers)
    return entries


def heads_csv(found: document.Heads) -> str:
    """A line for each head; nothing stands where there was nothing to measure."""
    paper = io.StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    writer.writerow(["layer", "head", "label", "labels", *_NAMES])
    for entry in found["heads"]:
        values = cast(dict[str, Any], entry)
        place = [entry["layer"], entry["head"], printable(entry["label"]), printable("; ".join(entry["labels"]))]
        writer.writerow([*place, *("" if values[name] is None else values[name] for name in _NAMES)])
    return paper.getvalue()


def heads_frame(found: Heads) -> DataFrame:
    """A row for each head."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise ImportError("frame needs pandas, which isn't installed; pip install pandas") from None
    return DataFrame(
        {
            "layer": [layer + 1 for layer, row in enumerate(found.labels) for _ in row],
            "head": [head + 1 for row in found.labels for head in range(len(row))],
            "label": [names[0] for row in found.labels for names in row],
            "labels": [names for row in found.labels for names in row],
            **{name: found.table[name].ravel() for name in _NAMES},
        }
    )

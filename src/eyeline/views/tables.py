"""The numbers of an explanation's picture, and of all heads, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, cast

from eyeline.answers.behaviour.head_measures import MEASURES
from eyeline.views import document
from eyeline.views.labels import printable


def csv_text(found: document.Explanation) -> str:
    """The picture's numbers as CSV: steps if they were asked for, else who gives how much to whom."""
    paper = io.StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    units, question = found["units"], found["question"]
    head = "mean" if question["head"] is None else question["head"]
    if any(run["steps"] for run in found["runs"]):
        columns = ("score", "scaled", "hidden", "weight", "value_length", "contribution_length")
        writer.writerow(["run", "layer", "head", "query", "key_index", "key", *columns])
        for run in found["runs"]:
            steps = run["steps"]
            assert steps is not None
            for key in steps["keys"]:
                values: dict[str, Any] = dict(key)
                place = [
                    run["name"],
                    steps["layer"],
                    steps["head"],
                    printable(steps["text"]),
                    key["token"],
                    printable(key["text"]),
                ]
                writer.writerow(
                    [*place, *(int(values[column]) if column == "hidden" else values[column] for column in columns)]
                )
        return paper.getvalue()
    if found["generated"] is not None and question["token"] is None:
        _write_generated(found["generated"], [question["layer"], head], writer)
        return paper.getvalue()
    writer.writerow(["run", "layer", "head", "query_index", "query", "key_index", "key", "weight", "share"])
    for run in found["runs"]:
        start = [run["name"], question["layer"], head]
        if run["looks_at"] is not None:
            asker = [question["units"][0], printable(question["token"] or "")]
            for look in run["looks_at"]:
                share = "" if look["share"] is None else look["share"]
                writer.writerow([*start, *asker, look["unit"], printable(look["text"]), look["weight"], share])
            continue
        places = {unit: place for place, unit in enumerate(found["shown"])}
        for i, row in enumerate(run["matrix"]["weights"]):
            for j, weight in enumerate(row):
                share = run["matrix"]["shares"][places[i]][places[j]] if i in places and j in places else ""
                writer.writerow([*start, i, printable(units[i]["text"]), j, printable(units[j]["text"]), weight, share])
    return paper.getvalue()


def heads_csv(found: document.Heads) -> str:
    """A line for each head; nothing stands where there was nothing to measure."""
    paper = io.StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    names = [measure.name for measure in MEASURES]
    writer.writerow(["layer", "head", "label", "labels", *names])
    for entry in found["heads"]:
        values = cast(dict[str, Any], entry)
        place = [entry["layer"], entry["head"], printable(entry["label"]), printable("; ".join(entry["labels"]))]
        writer.writerow([*place, *("" if values[name] is None else values[name] for name in names)])
    return paper.getvalue()


def _write_generated(found: document.Generated, where: Sequence[Any], writer: Any) -> None:
    """Whom the token that chose each new one looked at, as lines of CSV."""
    place = ["layer", "head", "query_index", "query", "key_index", "key", "weight", "share"]
    writer.writerow(["new_index", "new", "probability", *place])
    for step in found["steps"]:
        new, by = step["new"], step["by"]
        start = [new["token"], printable(new["text"]), step["probability"], *where, by["token"], printable(by["text"])]
        for look in step["looks_at"]:
            if not look["hidden"]:
                share = "" if look["share"] is None else look["share"]
                writer.writerow([*start, look["unit"], printable(look["text"]), look["weight"], share])

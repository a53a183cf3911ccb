"""Merging the parts of a survey, in their order, into its three tables.

One part is held at a time, beside the totals, so memory depends neither on the number of parts nor of documents; and
the same parts give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eyeline.answers.behaviour.head_labels import Label
from eyeline.surveys.best_examples import ranked_examples
from eyeline.surveys.errors import SurveyError, needed
from eyeline.surveys.head_tables import heads_table, kinds_for, tokens_table
from eyeline.surveys.parts import Part
from eyeline.surveys.totals import SkippedCount, Totals
from eyeline.words import worded

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Merged:
    """A survey's tables, merged of its parts.

    Attributes:
        heads, tokens, examples: tables of `heads_schema`, `tokens_schema` and `examples_schema`.
        types: the types of tokens, in the order of the lists `to` and `received`.
        labels: the kinds of heads that could be given, by precedence.
        counts: "blocks_done", "documents", "tokens", "text_tokens" and "windows".
        skipped: what was skipped while measuring.
    """

    heads: pa.Table
    tokens: pa.Table
    examples: pa.Table
    types: tuple[str, ...]
    labels: tuple[Label, ...]
    counts: dict[str, int]
    skipped: SkippedCount


def merge(parts: Iterable[Part], info: dict[str, Any]) -> Merged:
    """Merge parts, in the order of their blocks.

    Args:
        parts: the parts, read one at a time.
        info: survey.json: of it "model", "settings" and "induction" are used.

    Raises:
        SurveyError: if a part is of a model of another size, or they aren't in order.
    """
    model, settings = info["model"], info["settings"]
    needed("pyarrow", worded("a survey"))
    sizes = (model["layers"], model["heads"], settings["window"], settings["largest"], settings["sample"])
    totals = Totals(*sizes)
    last = -1
    for part in parts:
        if part.number <= last:
            raise SurveyError(
                worded(
                    "parts must be in the order of their blocks, got {number} after {last}",
                    number=part.number,
                    last=last,
                )
            )
        last = part.number
        totals.add(part)
    labels = kinds_for(totals, bool(model["causal"]))
    induction = info.get("induction")
    heads = heads_table(totals, labels, induction and induction["scores"])
    counts = {"blocks_done": totals.parts}
    counts |= {name: getattr(totals, name) for name in ("documents", "tokens", "text_tokens", "windows")}
    examples = ranked_examples(totals.examples)
    return Merged(heads, tokens_table(totals), examples, totals.types, labels, counts, totals.skipped)

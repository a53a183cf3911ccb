"""Sums over the parts of a survey so far.

Sums are added in the order of the blocks, in float64; the standard deviations over documents come of each part's mean
and sum of squares about it (Chan, Golub & LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
Variances", 1979); and of examples the best so far of each head are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.head_measures import SINK_TOKENS
from eyeline.surveys.best_examples import best, no_examples
from eyeline.surveys.document import Skipped
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.parts import Part
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES, TYPES
from eyeline.surveys.tally import MEASURES, Counts, GroupTally, Sums
from eyeline.words import worded

#: How many of what was skipped survey.json tells one by one.
TOLD = 100


@dataclass(eq=False)
class Spread:
    """The mean of a number over documents and its standard deviation, of those that have it; (L, H) each.

    Attributes:
        count: how many documents have it.
        mean: their mean.
        squares: the sum of squares about it.
    """

    count: Counts
    mean: Sums
    squares: Sums

    def add(self, numbers: NDArray[np.float32]) -> None:
        """Add documents: (documents, L, H); NaN where one doesn't have it."""
        there = ~np.isnan(numbers)
        count = there.sum(axis=0)
        own = np.where(there, numbers, 0).astype(np.float64)
        mean = own.sum(axis=0) / np.maximum(count, 1)
        squares = np.where(there, (own - mean) ** 2, 0).sum(axis=0)
        total = np.maximum(self.count + count, 1)
        apart = mean - self.mean
        self.squares += squares + apart**2 * (self.count * count / total)
        self.mean += np.where(count > 0, apart * (count / total), 0)
        self.count += count

    @property
    def deviation(self) -> Sums:
        """The standard deviation over these documents, divided by their number; NaN where there is none."""
        return np.where(self.count > 0, np.sqrt(self.squares / np.maximum(self.count, 1)), np.nan)


@dataclass(eq=False)
class SkippedCount:
    """What was skipped: how many for each reason, and the first of them.

    Attributes:
        counts: how many, by reason.
        first: the first hundred, in the order that they were found in.
    """

    counts: dict[str, int] = field(default_factory=dict)
    first: list[Skipped] = field(default_factory=list)

    def add(self, skipped: Skipped) -> None:
        """Count one more."""
        self.counts[skipped.reason] = self.counts.get(skipped.reason, 0) + 1
        if len(self.first) < TOLD:
            self.first.append(skipped)

    def as_json(self) -> dict[str, Any]:
        """As survey.json has it."""
        return {"counts": dict(self.counts), "first": [vars(one) for one in self.first]}


class Totals:
    """Sums over the parts so far.

    Args:
        layers, heads: the model's.
        window: the setting.
        largest, sample: the numbers of examples to keep for each head.
    """

    def __init__(self, layers: int, heads: int, window: int, largest: int, sample: int) -> None:
        shape = (layers, heads)
        self.shape, self.window, self.largest, self.sample = shape, window, largest, sample
        self.parts = self.documents = self.tokens = self.text_tokens = self.windows = 0
        self.sums: dict[str, Sums] = {
            name: np.zeros(shape) for name in ("entropy", "distance", "entropy_squares", "special")
        }
        self.sums["offsets"] = np.zeros((*shape, len(OFFSET_EDGES) - 1))
        self.counts: dict[str, Counts] = {
            "entropies": np.zeros((*shape, len(ENTROPY_EDGES) - 1), np.int64),
            "largest": np.zeros((*shape, len(LARGEST_EDGES) - 1), np.int64),
        }
        self.groups: dict[tuple[str, int], GroupTally] = {}
        self.spread = {name: _none(shape) for name in (*MEASURES, "short_sink")}
        self.examples = no_examples()
        self.skipped = SkippedCount()

    def add(self, part: Part) -> None:
        """Add the next part.

        Raises:
            SurveyError: if it is of a model of another size.
        """
        if (part.layers, part.heads) != self.shape:
            raise SurveyError(
                worded(
                    "part {number} must be of a model of {layers} layers of {heads} heads, got {got}; survey again "
                    "into an empty folder",
                    number=part.number,
                    layers=self.shape[0],
                    heads=self.shape[1],
                    got=f"{part.layers} × {part.heads}",
                )
            )
        self.parts += 1
        self.documents += part.documents.num_rows
        self.tokens += part.tokens
        self.text_tokens += part.text_tokens
        windows = part.documents.column("windows").to_numpy()
        self.windows += int(windows.sum())
        for name, sums in self.sums.items():
            sums += part.sums[name]
        for name, counts in self.counts.items():
            counts += part.sums[name]
        for key, group in part.groups.items():
            _add_group(self.groups, key, group)
        for name in MEASURES:
            numbers = part.measures(name)
            if name == "sink":
                self.spread["short_sink"].add(numbers)
                numbers = numbers[self._long(part)]
            self.spread[name].add(numbers)
        self.examples = best([self.examples, part.examples], self.largest, self.sample)
        for skipped in part.skipped:
            self.skipped.add(skipped)

    def _long(self, part: Part) -> NDArray[np.bool_]:
        """Which documents are long enough for the sink's own definition."""
        tokens = part.documents.column("tokens").to_numpy()
        return np.asarray(np.full(len(tokens), self.window >= SINK_TOKENS) & (tokens >= SINK_TOKENS))

    @property
    def types(self) -> tuple[str, ...]:
        """The types of tokens, in the order that lists of them have: ours, then a user's labels by name."""
        found = {kind for kind, _ in self.groups} | {kind for group in self.groups.values() for kind in group.to}
        return (*TYPES, *sorted(found - set(TYPES)))


def _none(shape: tuple[int, int]) -> Spread:
    return Spread(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape))


def _add_group(groups: dict[tuple[str, int], GroupTally], key: tuple[str, int], more: GroupTally) -> None:
    mine = groups.get(key)
    if mine is None:
        zero = np.zeros_like(more.entropy)
        mine = groups[key] = GroupTally(0, zero.copy(), zero.copy(), zero.copy(), {})
    mine.count += more.count
    mine.entropy += more.entropy
    mine.distance += more.distance
    mine.received += more.received
    for name, sums in more.to.items():
        mine.to[name] = mine.to[name] + sums if name in mine.to else np.array(sums)

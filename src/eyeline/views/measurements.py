"""Measurements as plain data: `bench` makes them, and views draw them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Surroundings:
    """What is measured on: the processor, the width of its vectors, the threads, and their peak in 10⁹ operations a
    second; whether something else keeps a processor busy; torch's version if it is installed."""

    processor: str
    bits: int
    threads: int
    peak: float
    busy: bool
    torch: str | None


@dataclass(frozen=True)
class Timing:
    """The median of the turns, in seconds, and the output's root mean square error against float64."""

    seconds: float
    error: float


@dataclass(frozen=True)
class Measured:
    """One line of a table of speeds.

    Attributes:
        name, sizes: what was measured.
        ours, torch: how it went; torch's only where that is installed.
        ratio: how many times as long as we torch takes.
        of_peak: the share of the processor's peak, where all is multiplied.
    """

    name: str
    sizes: str
    ours: Timing
    torch: Timing | None
    ratio: float | None
    of_peak: float | None


@dataclass(frozen=True)
class Point:
    """The cost of one length: `seconds`, and `megabytes` beyond the inputs, None where that can't be measured."""

    tokens: int
    seconds: float
    megabytes: float | None


@dataclass(frozen=True)
class Curve:
    """The cost of a layer at every length."""

    name: str
    points: list[Point]

    @property
    def doubling(self) -> float:
        """The time of the longest sequence over that of half its length."""
        return self.points[-1].seconds / self.points[-2].seconds


@dataclass(frozen=True)
class Growth:
    """How cost grows with the sequence: attention's, an RNN's, and the megabytes that all weights would take if they
    were kept, (tokens, megabytes), which is reckoned and not measured."""

    attention: Curve
    recurrent: Curve
    matrix: list[tuple[int, float]]

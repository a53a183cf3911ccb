"""Measurements as plain data: `bench` makes them, and views draw them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Surroundings:
    """The machine under measurement: the processor, the width of its vectors, the threads, and their peak in 10⁹
    operations a second; whether another program keeps a processor busy; torch's version if it is installed."""

    processor: str
    bits: int
    threads: int
    peak: float
    busy: bool
    torch: str | None


@dataclass(frozen=True)
class BothWays:
    """A number measured in two ways: `in_a_model`, at once after the matrix product that comes before attention in a
    model, and `alone`."""

    in_a_model: float
    alone: float


@dataclass(frozen=True)
class Timing:
    """The median of the turns, in seconds, and the output's root mean square error against float64."""

    seconds: BothWays
    error: float


@dataclass(frozen=True)
class Measured:
    """One row of a table of speeds.

    Attributes:
        name, sizes: the case and its sizes.
        ours, torch: the timings; torch's is None if torch isn't installed.
        ratio: torch's time divided by ours.
        of_peak: the share of the processor's peak, for cases without a mask.
    """

    name: str
    sizes: str
    ours: Timing
    torch: Timing | None
    ratio: BothWays | None
    of_peak: BothWays | None


@dataclass(frozen=True)
class Point:
    """The cost at one length: `seconds`, and `megabytes` beyond the inputs, None where memory can't be measured."""

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
    """The growth of cost with the length of the sequence: attention's, an RNN's, and the size of the full matrix of
    weights, (tokens, megabytes), which is calculated, not measured."""

    attention: Curve
    recurrent: Curve
    matrix: list[tuple[int, float]]

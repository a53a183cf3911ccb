"""The base class of readouts, and the records that they exchange with the rooms that compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape, namespace
from eyeline.masks.parts import parts
from eyeline.readouts.arrays import beside, cast
from eyeline.readouts.equality import EqualByParts
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout
from eyeline.words import worded

Array = NDArray[Any]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: The type of a readout's result for the user. Plain `Readout` means any.
    Value = TypeVar("Value", default=Any)
else:
    from typing import TypeVar

    Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Rows:
    """A block of whole rows of the weights, NumPy arrays or torch tensors.

    Attributes:
        w: (B, H, n, M), 0 where hidden.
        visible: bool, broadcasting to (B, H, n, M), where a query may look at a key.
        first: the position of the first of these n queries in the whole matrix.
        shape: the shape of the whole matrix.
    """

    w: Any
    visible: Any
    first: int
    shape: AttentionShape

    @property
    def count(self) -> int:
        """n."""
        return int(self.w.shape[2])

    @property
    def last(self) -> int:
        """The position after the last query."""
        return self.first + self.count

    @property
    def place(self) -> tuple[AttentionShape, int, int]:
        """The whole's shape, the first query and the number of queries: the last fields of a `PartialResult`."""
        return self.shape, self.first, self.count

    @property
    def xp(self) -> Any:
        """The library of these arrays, `numpy` or `torch`."""
        return namespace(self.w)

    def constant(self, array: NDArray[Any]) -> Any:
        """A NumPy array converted to that library, on the weights' device."""
        return beside(array, self.w)


@dataclass(frozen=True)
class ResultArray:
    """The description of one of a readout's output arrays, without the axes for batch and heads.

    Attributes:
        name: its name within the readout.
        axes: the meaning of each axis: "queries", "keys", or another word.
        sizes: the axes' lengths, for the whole matrix.
        kind: "weights", in the type of the computation; "keys", their positions, int64, -1 for none; or "booleans".
    """

    name: str
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    kind: Literal["weights", "keys", "booleans"] = "weights"


@dataclass(frozen=True, eq=False)
class PartialResult:
    """A readout's result for some rows, which merges with results for others.

    Attributes:
        arrays: as the readout's `results` describe them, with the leading axes (B, H), or the call's own.
        shape: the shape of the whole matrix.
        first, count: the first query, by its position in the whole matrix, and the number of queries.
        places: the first place where each maximum is attained, for gradients; set by `read` only.
    """

    arrays: tuple[Any, ...]
    shape: AttentionShape
    first: int
    count: int
    places: Any = None

    def map(self, change: Callable[[Any], Any]) -> PartialResult:
        """A copy with `change` applied to each array."""
        return replace(self, arrays=tuple(change(x) for x in self.arrays))

    def reshaped(self, lead: tuple[int, ...]) -> PartialResult:
        """A copy with these leading axes in place of (B, H), and without `places`, which are for gradients alone."""
        return replace(self.map(lambda x: x.reshape(*lead, *x.shape[2:])), places=None)

    def followed(self, other: PartialResult, *arrays: Any, places: Any = None) -> PartialResult:
        """A result with these arrays, for this one's queries and then the other's."""
        first = self.first if self.count else other.first
        return PartialResult(arrays, self.shape, first, self.count + other.count, places)


@dataclass(frozen=True, eq=False)
class KeyShares:
    """The shares that two parts of the keys have in each row's total, (..., N), NumPy arrays of float64."""

    a: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Readout(EqualByParts, ABC, Generic[Value]):
    """A quantity computed from the weights, without keeping them.

    Each readout is a frozen dataclass whose fields are its options. It holds its definition on the matrix (`read`), the
    merging of partial results, its gradient (`coefficients`), and its lowering to the kernels' primitives; the rooms
    that compute use these methods, and name no readout. The defaults here are for readouts whose numbers are sums over
    a row's weights, each times a coefficient.
    """

    #: The name of its result: an attribute of `Observation`.
    name: ClassVar[str]
    #: The name of its column in tables, or the prefix of its columns; `name` if empty.
    column: ClassVar[str] = ""
    #: Whether its numbers are of single queries and keys, wherever those stand, so that documents can be cut out of it.
    of_tokens: ClassVar[bool] = True

    @classmethod
    def kinds(cls) -> list[type[Readout]]:
        """All readout classes, including a user's own."""
        return [found for kind in cls.__subclasses__() for found in (kind, *kind.kinds())]

    # Options and results.

    def check(self, shape: AttentionShape) -> None:  # most fit any matrix
        """Check the options against a matrix of this shape.

        Raises:
            ValueError: if they don't fit.
        """

    def parts(self) -> dict[str, Any]:
        """The readout's fields, by name; `type(self)(**self.parts())` equals the readout."""
        return parts(self)

    def alike(self) -> tuple[Any, ...]:
        """The options that must be equal for two results to merge."""
        return ()

    @property
    def count_of_results(self) -> int:
        """The number of output arrays: `torch.compile` can trace it, but not `results`."""
        return 1

    @abstractmethod
    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        """The readout's output arrays; the last one has gradients."""

    def value(self, found: PartialResult) -> Value:
        """The result as the user gets it."""
        value: Value = found.arrays[-1]
        return value

    def document(self, found: PartialResult, first: int, last: int) -> PartialResult:
        """The result for a document alone, the tokens [first, last) of a packed sequence; NumPy arrays."""
        arrays = []
        for x, result in zip(found.arrays, self.results(found.shape), strict=True):
            cut = tuple(slice(first, last) if axis in ("queries", "keys") else slice(None) for axis in result.axes)
            part = x[(..., *cut)]
            arrays.append(np.where(part < 0, part, part - first) if result.kind == "keys" else part)
        own = replace(found.shape, queries=last - first, keys=last - first)
        return PartialResult(tuple(arrays), own, 0, last - first)

    # The definition on the matrix, and its gradient; for NumPy and torch alike.

    @abstractmethod
    def read(self, rows: Rows) -> PartialResult:
        """The definition: the result for these rows."""

    @abstractmethod
    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        """The gradient of a loss in the weights of some rows, broadcasting to (B, H, n, M).

        Args:
            d: the loss's gradient in the last output array, for all queries.
            found: the result for all queries.
            rows: the block of rows.
        """

    @property
    def needs_places(self) -> bool:
        """Whether `coefficients` needs the places of maxima, which only `read` and merging find."""
        return False

    # Merging partial results.

    def merge_queries(self, a: PartialResult, b: PartialResult) -> PartialResult:
        """The result for a's queries and then b's."""
        axes = [-result.axes[::-1].index("queries") - 1 for result in self.results(a.shape)]
        xp = namespace(a.arrays[-1])
        joined = [xp.concatenate([x, y], axis=axis) for x, y, axis in zip(a.arrays, b.arrays, axes, strict=True)]
        return a.followed(b, *joined)

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        """The result for a's and b's keys together, for the same queries; NumPy arrays.

        Args:
            shares: each part's share of every row's total; None where weights are normalised over all keys already.
        """
        x, y = a.arrays[-1], b.arrays[-1]
        return replace(a, arrays=(self.added(x, y, shares),))

    def added(self, x: Array, y: Array, shares: KeyShares | None) -> Array:
        """The sum of two arrays (..., N, ...), each times its part's share of the row."""
        if shares is None:
            return x + y
        extra = (1,) * (x.ndim - shares.a.ndim)
        of_x, of_y = (share.reshape(share.shape + extra) for share in (shares.a, shares.b))
        return cast(of_x * x + of_y * y, x)  # type: ignore[no-any-return]

    # Lowering to the kernels' primitives.

    @abstractmethod
    def lower(self, shape: AttentionShape) -> LoweredReadout:
        """The primitives that the readout needs."""

    @abstractmethod
    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        """The readout's output arrays, computed from the primitives."""

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        """The gradients in the primitives, for NumPy arrays; None if the kernels can't differentiate the readout.

        Args:
            d: the gradient in the last output array, (B, H, ...).
            arrays: the output arrays.
        """
        return None

    # Tables.

    def table(self, shape: AttentionShape) -> Literal["queries", "keys", "weights"] | None:
        """The table that the result is written to: one line per query, per key, or per weight."""
        match self.results(shape)[-1].axes:
            case ("queries", "keys"):
                return "weights"
            case ("queries",) | ("queries", _):
                return "queries"
            case ("keys",):
                return "keys"
        return None

    def rectangle(self, shape: AttentionShape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions of the queries and keys of a result with both axes."""
        return np.arange(shape.queries), np.arange(shape.keys)

    def tabulated(self, found: PartialResult) -> dict[str, Any]:
        """The result as columns of that table, by name: (..., H, N), (..., H, M) or (..., H, rows, columns)."""
        column, last = self.column or self.name, found.arrays[-1]
        if self.results(found.shape)[-1].axes in (("queries",), ("keys",), ("queries", "keys")):
            return {column: last}
        return {f"{column}_{number}": last[..., number] for number in range(last.shape[-1])}


def not_shares(name: str) -> ValueError:
    """Make the error of results over several rows, which can't be weighted by each row's share."""
    return ValueError(
        worded(
            "{name} must be of weights relative to the whole to be merged over keys; observe both parts with lse= the "
            "whole's",
            name=name,
        )
    )


def larger_places(a: PartialResult, b: PartialResult) -> Any:
    """The place of the larger of two maxima, a's if equal, None if either has none; -1: no row counts for it."""
    if a.places is None or b.places is None:
        return None
    later = (b.arrays[-1] > a.arrays[-1]) | (a.places < 0)
    return namespace(a.places).where(later, b.places, a.places)

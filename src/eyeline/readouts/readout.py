"""The base of the readouts, and what passes between them and the rooms that compute."""

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
from eyeline.readouts.lowered import FoundPrimitives, LoweredGradient, LoweredReadout

Array = NDArray[Any]

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: What the user gets of a readout. `Readout` alone is one of anything.
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
        first: the number of the first of these n queries among all.
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
        """The number after that of the last query."""
        return self.first + self.count

    @property
    def place(self) -> tuple[AttentionShape, int, int]:
        """Of which matrix, from which query on and how many these are: as a partial result says it."""
        return self.shape, self.first, self.count

    @property
    def xp(self) -> Any:
        """The library of these arrays, `numpy` or `torch`."""
        return namespace(self.w)

    def constant(self, array: NDArray[Any]) -> Any:
        """A NumPy array as one of that library, beside the weights."""
        return beside(array, self.w)


@dataclass(frozen=True)
class ResultArray:
    """One of the arrays that a readout gives, after the batch and the heads.

    Attributes:
        name: what it is, within its readout.
        axes: what each axis counts: "queries", "keys", or something of the readout's own.
        sizes: their lengths, where all queries and keys are here.
        kind: weights, in the type that they are computed in; numbers of keys, int64, -1 for none; or booleans.
    """

    name: str
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    kind: Literal["weights", "keys", "booleans"] = "weights"


@dataclass(frozen=True, eq=False)
class PartialResult:
    """What a readout read of some rows: it merges with what was read of others.

    Attributes:
        arrays: as the readout's `results` say, with the leading axes (B, H), or those of the call.
        shape: the shape of the whole matrix.
        first, count: which of its queries these are.
        places: where each maximum is attained first, for gradients; only a definition knows them.
    """

    arrays: tuple[Any, ...]
    shape: AttentionShape
    first: int
    count: int
    places: Any = None

    def map(self, change: Callable[[Any], Any]) -> PartialResult:
        """The same with each array changed."""
        return replace(self, arrays=tuple(change(x) for x in self.arrays))

    def reshaped(self, lead: tuple[int, ...]) -> PartialResult:
        """The same with these leading axes in place of (B, H), and without places, which are for gradients alone."""
        return replace(self.map(lambda x: x.reshape(*lead, *x.shape[2:])), places=None)

    def followed(self, other: PartialResult, *arrays: Any, places: Any = None) -> PartialResult:
        """These arrays, of this one's queries and then the other's."""
        first = self.first if self.count else other.first
        return PartialResult(arrays, self.shape, first, self.count + other.count, places)


@dataclass(frozen=True, eq=False)
class KeyShares:
    """How much of each row's total either of two parts of the keys has, (..., N), NumPy arrays of float64."""

    a: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Readout(ABC, Generic[Value]):
    """Something read of the weights, without keeping them.

    A readout is a frozen dataclass of its own: the fields are its question. It says what it is on the matrix (`read`),
    how partial results merge, what gradients it has (`coefficients`), and how it lowers to the kernels' primitives;
    whoever computes asks it, and knows none by name. What is written here as a default is that of a readout whose
    numbers are sums over a row's weights, each times a coefficient.
    """

    #: The attribute of an `Observation`.
    name: ClassVar[str]
    #: The column, or the beginning of the columns, in tables; `name` if empty.
    column: ClassVar[str] = ""

    @classmethod
    def kinds(cls) -> list[type[Readout]]:
        """All readouts that there are, a user's own among them."""
        return [found for kind in cls.__subclasses__() for found in (kind, *kind.kinds())]

    # The question.

    def check(self, shape: AttentionShape) -> None:  # most fit any matrix
        """
        Raises:
            ValueError: if the question doesn't fit a matrix of this shape.
        """

    def parts(self) -> dict[str, Any]:
        """All that this readout is made of, by the names of its fields; `type(self)(**self.parts())` is equal to it."""
        return parts(self)

    def alike(self) -> tuple[Any, ...]:
        """What two questions have to have in common for their answers to merge."""
        return ()

    @property
    def count_of_results(self) -> int:
        """How many arrays it gives: to be had where `results`, of a shape that `torch.compile` traces, aren't."""
        return 1

    @abstractmethod
    def results(self, shape: AttentionShape) -> tuple[ResultArray, ...]:
        """The arrays that this readout gives; the last has gradients."""

    def value(self, found: PartialResult) -> Value:
        """What the user gets."""
        value: Value = found.arrays[-1]
        return value

    # What it is on the matrix, and what its gradient is; for NumPy and torch alike.

    @abstractmethod
    def read(self, rows: Rows) -> PartialResult:
        """The definition: what is read of these rows."""

    @abstractmethod
    def coefficients(self, d: Any, found: PartialResult, rows: Rows) -> Any:
        """The gradient of a loss in the weights of some rows, broadcasting to (B, H, n, M).

        Args:
            d: the loss's gradient in the last of the arrays, for all queries.
            found: what was read of all queries.
            rows: some of them.
        """

    @property
    def needs_places(self) -> bool:
        """Whether `coefficients` needs the places of maxima, which come of merging `read` of all rows."""
        return False

    # How partial results merge.

    def merge_queries(self, a: PartialResult, b: PartialResult) -> PartialResult:
        """What was read of some queries and of the ones after them."""
        axes = [-result.axes[::-1].index("queries") - 1 for result in self.results(a.shape)]
        xp = namespace(a.arrays[-1])
        joined = [xp.concatenate([x, y], axis=axis) for x, y, axis in zip(a.arrays, b.arrays, axes, strict=True)]
        return a.followed(b, *joined)

    def merge_keys(self, a: PartialResult, b: PartialResult, shares: KeyShares | None) -> PartialResult:
        """What was read of the same queries on some keys and on others, of NumPy arrays.

        Args:
            shares: what either part has of each row's total; None where weights are shares of the whole already.
        """
        x, y = a.arrays[-1], b.arrays[-1]
        return replace(a, arrays=(self.added(x, y, shares),))

    def added(self, x: Array, y: Array, shares: KeyShares | None) -> Array:
        """Two arrays (..., N, ...) of a row's parts, each times its share."""
        if shares is None:
            return x + y
        extra = (1,) * (x.ndim - shares.a.ndim)
        of_x, of_y = (share.reshape(share.shape + extra) for share in (shares.a, shares.b))
        return cast(of_x * x + of_y * y, x)  # type: ignore[no-any-return]

    # How it lowers to the kernels' primitives.

    @abstractmethod
    def lower(self, shape: AttentionShape) -> LoweredReadout:
        """The primitives that it needs."""

    @abstractmethod
    def result(self, found: FoundPrimitives, shape: AttentionShape) -> tuple[Any, ...]:
        """Its arrays, made of what kernels found."""

    def lower_gradient(self, d: Any, arrays: tuple[Any, ...], shape: AttentionShape) -> LoweredGradient | None:
        """The gradients of primitives, for NumPy arrays; None if kernels have none for it.

        Args:
            d: the gradient in the last of the arrays, (B, H, ...).
            arrays: what was read.
        """
        return None

    # How it is written in tables.

    def table(self, shape: AttentionShape) -> Literal["queries", "keys", "weights"] | None:
        """The table that has a line for each of its numbers, or for each group of them."""
        match self.results(shape)[-1].axes:
            case ("queries", "keys"):
                return "weights"
            case ("queries",) | ("queries", _):
                return "queries"
            case ("keys",):
                return "keys"
        return None

    def rectangle(self, shape: AttentionShape) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions of the queries and keys that a result of queries by keys is of."""
        return np.arange(shape.queries), np.arange(shape.keys)

    def tabulated(self, found: PartialResult) -> dict[str, Any]:
        """Its columns in that table by name, (..., H, N) per query, (..., H, M) per key or (..., H, rows, columns)."""
        column, last = self.column or self.name, found.arrays[-1]
        if self.results(found.shape)[-1].axes in (("queries",), ("keys",), ("queries", "keys")):
            return {column: last}
        return {f"{column}_{number}": last[..., number] for number in range(last.shape[-1])}


#: What is read over several rows at once can't be weighted by each row's share.
NOT_SHARES = (
    "{} must be of weights relative to the whole to be merged over keys; observe both parts with lse= the whole's"
)


def larger_places(a: PartialResult, b: PartialResult) -> Any:
    """Where the larger of two maxima is attained, the first if they are equal; None where one doesn't know. A place of
    -1 is nowhere: none of those rows counts for that maximum."""
    if a.places is None or b.places is None:
        return None
    later = (b.arrays[-1] > a.arrays[-1]) | (a.places < 0)
    return namespace(a.places).where(later, b.places, a.places)

"""The result of `observe`, for a whole attention or a shard of it; and the merging of shards.

An observation is a partial result: shards of disjoint keys, or of different queries, merge into the observation of the
whole, in any grouping; a shard of no keys, or of no queries, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from eyeline.readouts.arrays import cast
from eyeline.readouts.chosen import check_of_tokens
from eyeline.readouts.readout import KeyShares, PartialResult, Readout, not_shares
from eyeline.words import worded

Array = NDArray[Any]
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Observation:
    """The result of `observe`: the output, and the result of each readout.

    Index it by the readout's class, `seen[Entropy]`, or use the readout's name, `seen.entropy`.

    Attributes:
        output: (..., H, N, E), bit for bit the result of `attention`.
        lse: (..., H, N), the natural log of each row's sum of exponentials of scores, sinks included; -inf where a
            query may look at nothing.
        sink: (..., H, N), the share of each row that went to the sink; None where scores have no `Sinks`.
        read: the readouts.
        results: each readout's partial result, which merges.
        relative_to_whole: whether the weights are normalised by a given `lse=` rather than over this shard's keys. The
            results of such shards of the keys simply add up.

    In a shard of the keys, [a, b) of M, keys keep their positions among the M: `received` and `weights` have their full
    width, and are 0 outside the shard.

    >>> from eyeline import Entropy, observe
    >>> x = np.eye(2)
    >>> seen = observe(x, x, x, read=Entropy())
    >>> seen[Entropy].round(2), seen.entropy is seen[Entropy], Entropy in seen
    (array([0.63, 0.63]), True, True)
    """

    output: Array
    lse: Array
    sink: Array | None = None
    read: tuple[Readout, ...] = ()
    results: tuple[PartialResult, ...] = ()
    relative_to_whole: bool = False

    def __getitem__(self, kind: type[Readout[Value]]) -> Value:
        """The result of the readout of this class.

        Raises:
            KeyError: if it wasn't read; the message says what to add to `read=`.
            TypeError: if `kind` isn't a readout's class.
        """
        _check_kind(kind)
        for readout, found in zip(self.read, self.results, strict=True):
            if type(readout) is kind:
                value: Value = readout.value(found)
                return value
        raise KeyError(self._advice(kind.__name__))

    def get(self, kind: type[Readout[Value]]) -> Value | None:
        """As `seen[kind]`; None if it wasn't read."""
        return self[kind] if kind in self else None  # noqa: SIM401  # `get` is built on this

    def __getattr__(self, name: str) -> Any:
        """The result of the readout of this name."""
        if not name.startswith("_"):
            for readout, found in zip(self.read, self.results, strict=True):
                if readout.name == name:
                    return readout.value(found)
        raise AttributeError(self._advice(name) if not name.startswith("_") else name)

    def __contains__(self, kind: type[Readout]) -> bool:
        """Whether a readout of this class was read."""
        _check_kind(kind)
        return any(type(readout) is kind for readout in self.read)

    def __iter__(self) -> Any:
        raise TypeError(
            worded("an observation must be asked for one answer at a time: seen[eyeline.Entropy], seen.entropy")
        )

    def _advice(self, name: str) -> str:
        there = ", ".join(["output", "lse", *(readout.name for readout in self.read)])
        wanted = next((kind.__name__ for kind in Readout.kinds() if name in (kind.name, kind.__name__)), None)
        if wanted is None:
            return worded("{name} is nothing that can be read; this observation has {there}", name=name, there=there)
        return worded(
            "{name} wasn't read; add eyeline.{wanted}(...) to read=; this observation has {there}",
            name=name,
            wanted=wanted,
            there=there,
        )

    def map(self, change: Callable[[Any], Any]) -> Observation:
        """A copy with `change` applied to each array; all have the leading axes (..., H)."""
        sink = None if self.sink is None else change(self.sink)
        results = tuple(found.map(change) for found in self.results)
        return replace(self, output=change(self.output), lse=change(self.lse), sink=sink, results=results)

    def document(self, first: int, last: int) -> Observation:
        """The observation of one document, the tokens [first, last) of a packed sequence, as if it were alone.

        Args:
            first, last: of a self-attention whose `Documents` mask, or another, lets these tokens look at one another
                alone. (Others are not noticed: the rows are cut, whatever they looked at.)

        Returns:
            NumPy arrays, views where nothing has to be counted anew; keys count from the document's beginning.

        Raises:
            ValueError: if a readout isn't of single tokens (`Pooled`, `Weights`, `GroupMass`), or there are no such
                tokens.

        >>> from eyeline import Documents, TopK, observe
        >>> x = np.eye(3)
        >>> both = observe(x, x, x, mask=Documents([1, 2]), read=TopK(1))
        >>> both.top_k.keys[:, 0], both.document(1, 3).top_k.keys[:, 0]
        (array([0, 1, 2]), array([0, 1]))
        """
        check_of_tokens(self.read)
        count = self.lse.shape[-1]
        if not 0 <= first <= last <= count:
            raise ValueError(
                worded(
                    "first and last must be 0 <= first <= last <= {count}, got {first} and {last}",
                    count=count,
                    first=first,
                    last=last,
                )
            )
        rows = slice(first, last)
        return replace(
            self,
            output=self.output[..., rows, :],
            lse=self.lse[..., rows],
            sink=None if self.sink is None else self.sink[..., rows],
            results=tuple(one.document(found, first, last) for one, found in zip(self.read, self.results, strict=True)),
        )

    def merge(self, other: Observation, axis: Literal["keys", "queries"] = "keys") -> Observation:
        """Merge this shard with another.

        Over keys: both have the same queries, and no key is in both. Each row is weighted by its shards' lse. That
        doesn't work for readouts over several rows (`received`, `pooled`), nor for sinks, which each shard would count
        again: observe these shards with the whole's lse as `lse=`, which a first pass without readouts gives.

        Over queries: the other's rows come after this one's. `pooled` must be a picture of the whole matrix, and
        `weights` needs the positions of the queries: observe these shards with `shard=`.

        Args:
            other: an observation with the same readouts.
            axis: "keys" or "queries".

        Returns:
            The observation of both, as NumPy arrays, equal to one of the whole but for rounding.

        Raises:
            ValueError: if they can't be merged; the message says what to do.

        >>> from eyeline import TopK, observe
        >>> q, x = np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> first = observe(q, x, x, scale=1.0)
        >>> both = first.merge(first)  # the same two keys twice over: the same mean, twice the total
        >>> bool(np.allclose(both.output, first.output)), bool(np.allclose(both.lse, first.lse + np.log(2)))
        (True, True)
        """
        if axis not in ("keys", "queries"):
            raise ValueError(worded('axis must be "keys" or "queries", got {axis!r}', axis=axis))
        if _asked(self) != _asked(other):
            raise ValueError(
                worded(
                    "other must have read what this has, {read}, got {got}",
                    read=list(self.read),
                    got=list(other.read),
                )
            )
        if self.relative_to_whole != other.relative_to_whole:
            raise ValueError(worded("other must be observed as this was, both with lse= or both without"))
        a, b = self.map(np.asarray), other.map(np.asarray)
        return _over_keys(a, b) if axis == "keys" else _over_queries(a, b)

    def _pairs(self, other: Observation) -> list[tuple[Readout, PartialResult, PartialResult]]:
        """Each readout with its result here and in the other observation."""
        theirs = {readout.name: found for readout, found in zip(other.read, other.results, strict=True)}
        return [(one, found, theirs[one.name]) for one, found in zip(self.read, self.results, strict=True)]


def _check_kind(kind: object) -> None:
    if not (isinstance(kind, type) and issubclass(kind, Readout)):
        raise TypeError(
            worded(
                "an observation must be asked by a readout's class, as in seen[eyeline.Entropy], or by its "
                "name, as in seen.entropy, got {kind!r}",
                kind=kind,
            )
        )


def _asked(seen: Observation) -> set[tuple[Any, ...]]:
    return {(readout.name, *readout.alike()) for readout in seen.read}


def _over_keys(a: Observation, b: Observation) -> Observation:
    if a.output.shape != b.output.shape:
        raise ValueError(
            worded(
                "other must be of the same queries, with output {shape}, got {got}",
                shape=a.output.shape,
                got=b.output.shape,
            )
        )
    if a.relative_to_whole:
        if not np.array_equal(a.lse, b.lse, equal_nan=True):
            raise ValueError(worded("other must be observed with the same lse= as this was, got another"))
        lse, shares, output = a.lse, None, a.output + b.output
    else:
        if a.sink is not None:
            raise not_shares("sink")
        lse, shares = _shares(a.lse, b.lse)
        output = cast(shares.a[..., None] * a.output + shares.b[..., None] * b.output, a.output)
    results = tuple(readout.merge_keys(x, y, shares) for readout, x, y in a._pairs(b))
    return replace(a, output=output, lse=cast(lse, a.lse), results=results)


def _over_queries(a: Observation, b: Observation) -> Observation:
    if a.output.shape[:-2] + a.output.shape[-1:] != b.output.shape[:-2] + b.output.shape[-1:]:
        raise ValueError(
            worded(
                "other must have this one's heads and width, {shape}, got {got}",
                shape=a.output.shape,
                got=b.output.shape,
            )
        )
    sink = None
    if a.sink is not None and b.sink is not None:
        sink = np.concatenate([a.sink, b.sink], axis=-1)
    return replace(
        a,
        output=np.concatenate([a.output, b.output], axis=-2),
        lse=np.concatenate([a.lse, b.lse], axis=-1),
        sink=sink,
        results=tuple(readout.merge_queries(x, y) for readout, x, y in a._pairs(b)),
    )


def _shares(a: Array, b: Array) -> tuple[Array, KeyShares]:
    """The lse of two shards together, and each one's share of the total; both shares are 0 where the total is 0."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    top = np.maximum(a, b)
    base = np.where(top == -np.inf, 0.0, top)
    x, y = np.exp(a - base), np.exp(b - base)
    total = x + y
    some = np.where(total == 0, 1.0, total)
    with np.errstate(divide="ignore"):
        return base + np.log(total), KeyShares(x / some, y / some)

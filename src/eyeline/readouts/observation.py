"""What was seen of one attention, or of a part of it; and how parts are joined.

An observation is a partial result: parts over disjoint keys, or over different queries, merge into that of the whole,
in any grouping, and a part of no keys, or of no queries, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.readouts import Pooled, Readout, Received

Array = NDArray[Any]


@dataclass(frozen=True)
class TopKeys:
    """The keys that each query looks at most.

    Attributes:
        keys: int64, (..., H, N, k), by weight, then by key; -1 where a query may look at fewer.
        weights: (..., H, N, k), theirs; 0 where there is none.
    """

    keys: Array
    weights: Array


@dataclass(frozen=True)
class Observation:
    """What `observe` saw. What wasn't asked for is None.

    Attributes:
        output: (..., H, N, E), what `attention` returns, to the bit.
        lse: (..., H, N), the natural log of each row's sum of exponentials of scores, sinks included; -inf where it
            may look at nothing.
        weights: (..., H, rows, columns), by `Weights`.
        top_k: the keys that each query looks at most, by `TopK`.
        entropy: (..., H, N), in nats, by `Entropy`.
        received: (..., H, M), by `Received`.
        mean_distance: (..., H, N), in tokens, by `MeanDistance`.
        group_mass: (..., H, N, count), by `GroupMass`.
        pooled: (..., H, rows, columns), by `Pooled`.
        sink: (..., H, N), the share of each row that went to the sink, where scores have `Sinks`.
        read: what was asked.
        relative_to_whole: whether the weights are shares of a given total, `lse=`, rather than of the part that was
            looked at. Such parts over keys simply add up.
        looking: (..., H, N), whether each query may look at any of the keys, where `Received("mean")` was read.
        pooled_over: the numbers of queries and keys that the picture in `pooled` is of.

    Of a part of the keys, [a, b) of M, all keys are named by their place among the M: `received` and `weights` have
    their full width, and are 0 outside the part.
    """

    output: Array
    lse: Array
    weights: Array | None = None
    top_k: TopKeys | None = None
    entropy: Array | None = None
    received: Array | None = None
    mean_distance: Array | None = None
    group_mass: Array | None = None
    pooled: Array | None = None
    sink: Array | None = None
    read: tuple[Readout, ...] = ()
    relative_to_whole: bool = False
    looking: Array | None = None
    pooled_over: tuple[int, int] | None = None

    def merge(self, other: Observation, axis: Literal["keys", "queries"] = "keys") -> Observation:
        """This part and another as one.

        Over keys, both are of the same queries, and no key is in both. Each row is weighted by its parts' lse; but what
        is read over several rows at once, `received` and `pooled`, and sinks, which each part would count again, need
        parts whose weights are shares of the whole: observe them with `lse=` the whole's, which a first pass without
        readouts gives. Over queries, the other's rows come after this one's; `pooled` needs pictures of the whole.

        Args:
            other: an observation by the same readouts.
            axis: "keys" or "queries".

        Returns:
            The observation of both, as NumPy arrays; it differs from that of the whole by rounding alone.

        Raises:
            ValueError: if they can't be joined; it says what to do.

        >>> from eyeline import TopK, observe
        >>> q, x = np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> first = observe(q, x, x, scale=1.0)
        >>> both = first.merge(first)  # the same two keys twice over: the same mean, twice the total
        >>> bool(np.allclose(both.output, first.output)), bool(np.allclose(both.lse, first.lse + np.log(2)))
        (True, True)
        """
        if axis not in ("keys", "queries"):
            raise ValueError(f'axis must be "keys" or "queries", got {axis!r}')
        if _asked(self) != _asked(other):
            raise ValueError(f"other must have read what this has, {_asked(self)}, got {_asked(other)}")
        if self.relative_to_whole != other.relative_to_whole:
            raise ValueError("other must be observed as this was, both with lse= or both without")
        return _over_keys(self, other) if axis == "keys" else _over_queries(self, other)


def _asked(seen: Observation) -> list[str]:
    """What an observation has, and how it was reduced, in words."""
    have = [field.name for field in fields(seen)[2:10] if getattr(seen, field.name) is not None]
    return have + [f"{type(one).__name__}({one.reduce!r})" for one in seen.read if isinstance(one, (Pooled, Received))]


def _reduce(seen: Observation, kind: type[Pooled] | type[Received]) -> str:
    return next(one.reduce for one in seen.read if isinstance(one, kind))


def _over_keys(a: Observation, b: Observation) -> Observation:
    if a.output.shape != b.output.shape:
        raise ValueError(f"other must be of the same queries, with output {a.output.shape}, got {b.output.shape}")
    if a.relative_to_whole:
        if not np.array_equal(a.lse, b.lse, equal_nan=True):
            raise ValueError("other must be observed with the same lse= as this was, got another")
        lse, of_a, of_b = np.asarray(a.lse, np.float64), np.ones(()), np.ones(())
    else:
        for name in ("received", "pooled", "sink"):
            if getattr(a, name) is not None:
                raise ValueError(
                    f"{name} must be of weights relative to the whole to be merged over keys; observe both parts with "
                    f"lse= the whole's"
                )
        lse, of_a, of_b = _shares(a.lse, b.lse)

    def added(name: str, axes: int = 0) -> Any:
        """Each part's value times its share of the row; `axes` more axes than a number per row."""
        mine, its = getattr(a, name), getattr(b, name)
        if mine is None:
            return None
        x, y = (share.reshape(share.shape + (1,) * axes if share.ndim else ()) for share in (of_a, of_b))
        return _as(x * mine + y * its, mine)

    entropy = added("entropy")
    if entropy is not None and not a.relative_to_whole:
        entropy = _as(entropy - _x_log_x(of_a) - _x_log_x(of_b), a.lse)
    looking = None if a.looking is None or b.looking is None else a.looking | b.looking
    return replace(
        a,
        output=added("output", 1),
        lse=_as(lse, a.lse),
        weights=_rows_added(a, of_a, b, of_b),
        top_k=_best(a.top_k, of_a, b.top_k, of_b),
        entropy=entropy,
        mean_distance=added("mean_distance"),
        group_mass=added("group_mass", 1),
        received=_received(a, b, looking),
        pooled=_pooled(a, b),
        looking=looking,
    )


def _over_queries(a: Observation, b: Observation) -> Observation:
    def after(name: str, axis: int = -1) -> Any:
        mine, its = getattr(a, name), getattr(b, name)
        return None if mine is None else np.concatenate([mine, its], axis=axis)

    if a.output.shape[:-2] + a.output.shape[-1:] != b.output.shape[:-2] + b.output.shape[-1:]:
        raise ValueError(f"other must have this one's heads and width, {a.output.shape}, got {b.output.shape}")
    output, looking = after("output", -2), after("looking")
    if a.pooled is not None and (a.pooled_over is None or a.pooled_over[0] < output.shape[-2]):
        raise ValueError(
            "pooled must be a picture of the whole to be merged over queries, got one of a part's own queries; leave "
            "Pooled out of the parts"
        )
    top_k = None
    if a.top_k is not None and b.top_k is not None:
        _check_k(a.top_k, b.top_k)
        top_k = TopKeys(
            np.concatenate([a.top_k.keys, b.top_k.keys], axis=-2),
            np.concatenate([a.top_k.weights, b.top_k.weights], axis=-2),
        )
    return replace(
        a,
        output=output,
        lse=after("lse"),
        weights=after("weights", -2),
        top_k=top_k,
        entropy=after("entropy"),
        mean_distance=after("mean_distance"),
        group_mass=after("group_mass", -2),
        sink=after("sink"),
        received=_received(a, b, looking),
        pooled=_pooled(a, b),
        looking=looking,
    )


def _shares(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The lse of two parts together, and each part's share of it; of nothing, each has none."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    top = np.maximum(a, b)
    base = np.where(top == -np.inf, 0.0, top)
    x, y = np.exp(a - base), np.exp(b - base)
    total = x + y
    some = np.where(total == 0, 1.0, total)
    with np.errstate(divide="ignore"):
        return base + np.log(total), x / some, y / some


def _x_log_x(x: Array) -> Array:
    return np.asarray(x * np.log(np.where(x == 0, 1.0, x)))


def _as(x: Array, template: Array) -> Array:
    return np.asarray(x).astype(template.dtype, copy=False)


def _rows_added(a: Observation, of_a: Array, b: Observation, of_b: Array) -> Array | None:
    if a.weights is None or b.weights is None:
        return None
    if not a.relative_to_whole:
        rows = _weights_rows(a)
        of_a, of_b = of_a[..., rows, None], of_b[..., rows, None]
    return _as(of_a * a.weights + of_b * b.weights, a.weights)


def _weights_rows(seen: Observation) -> Array:
    from eyeline.readouts import Weights

    rectangle = next(one for one in seen.read if isinstance(one, Weights))
    return rectangle.rows(seen.lse.shape[-1])


def _check_k(a: TopKeys, b: TopKeys) -> None:
    if a.keys.shape[-1] != b.keys.shape[-1]:
        raise ValueError(f"other must have as many top keys as this, {a.keys.shape[-1]}, got {b.keys.shape[-1]}")


def _best(a: TopKeys | None, of_a: Array, b: TopKeys | None, of_b: Array) -> TopKeys | None:
    if a is None or b is None:
        return None
    _check_k(a, b)
    keys = np.concatenate([a.keys, b.keys], axis=-1)
    x, y = (share[..., None] if share.ndim else share for share in (of_a, of_b))
    weights = np.concatenate([x * a.weights, y * b.weights], axis=-1)
    # By weight, then by key, what is no key last.
    order = np.lexsort((keys, -weights, keys < 0), axis=-1)[..., : a.keys.shape[-1]]
    found = np.take_along_axis(weights, order, axis=-1)
    return TopKeys(np.take_along_axis(keys, order, axis=-1), _as(found, a.weights))


def _received(a: Observation, b: Observation, looking: Array | None) -> Array | None:
    if a.received is None or b.received is None:
        return None
    how = _reduce(a, Received)
    if how == "max":
        return np.maximum(a.received, b.received)
    if how == "sum":
        return a.received + b.received
    if a.looking is None or b.looking is None or looking is None:
        raise ValueError('looking must be known to merge a mean of received weights; read Received("sum") instead')
    (of_a, of_b, of_both) = (some.sum(axis=-1)[..., None] for some in (a.looking, b.looking, looking))
    return _as((a.received * of_a + b.received * of_b) / np.maximum(of_both, 1), a.received)


def _pooled(a: Observation, b: Observation) -> Array | None:
    if a.pooled is None or b.pooled is None:
        return None
    if a.pooled.shape != b.pooled.shape or a.pooled_over != b.pooled_over:
        raise ValueError(f"other must have a picture of the same, {a.pooled_over}, got {b.pooled_over}")
    return np.maximum(a.pooled, b.pooled) if _reduce(a, Pooled) == "max" else a.pooled + b.pooled

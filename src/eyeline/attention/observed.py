"""Readouts of a call: requests their primitives from the kernels in as few passes as possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.attention.call import Call
from eyeline.attention.factors import has_negative, largest_totals, largest_weights, rows_weighed
from eyeline.kernels.forms import computed
from eyeline.kernels.primitives import PrimitiveResults, Primitives
from eyeline.kernels.run import Pass, forward, weights
from eyeline.masks import is_plain, parts
from eyeline.readouts import PartialResult, Readout, chosen
from eyeline.readouts.lowered import FoundPrimitives, LoweredReadout
from eyeline.readouts.observation import Observation
from eyeline.words import worded

Array = NDArray[Any]
#: The most sets of readouts that are kept with a plan.
_MOST_READINGS = 16


def observed(
    call: Call, read: Readout | Sequence[Readout], counted: NDArray[np.bool_] | None = None
) -> tuple[Observation, Pass]:
    """The observation of a call, and the forward pass of its output, which the backward pass needs.

    Args:
        call: the call.
        read: the readouts.
        counted: bool, (B, N), contiguous: False for queries that the readouts take as if they might look at no key; all
            count if None. Output and lse are the same whoever counts.
    """
    asked, groups = _reading(call, read)
    totals = _given_totals(call)
    done = call.forward(_primitives(call, groups[0][0], totals, counted) if groups else None)
    weighed = _Weighed(call, done, totals, counted)
    row_total = weighed.row_total()
    results: dict[int, PartialResult] = {}
    for number, (together, members) in enumerate(groups):
        read_of = done.found
        if number > 0 or (row_total > 1 and (together.column_sums or together.grid_sums)):
            read_of = weighed.further(_primitives(call, together, totals, counted, row_total))
        found = weighed.found(together, read_of)
        for place in members:
            arrays = tuple(weighed.led(x) for x in asked[place].result(found, call.shape))
            results[place] = PartialResult(arrays, call.shape, call.shard.first_query, call.q.shape[2])
    observation = Observation(
        output=call.led(weighed.output()),
        lse=weighed.led(weighed.lse),
        sink=weighed.sink(),
        read=asked,
        results=tuple(results[place] for place in range(len(asked))),
        relative_to_whole=call.lse is not None,
    )
    return observation, done


Groups = list[tuple[LoweredReadout, list[int]]]


def _reading(call: Call, read: Readout | Sequence[Readout]) -> tuple[tuple[Readout, ...], Groups]:
    """The readouts, checked, and as groups; kept with the call's plan if all are plain values."""
    kept: dict[Any, tuple[tuple[Readout, ...], Groups]] = call.plan.readings
    key = tuple(read) if isinstance(read, list) else read
    try:
        found = kept.get(key)
    except TypeError:  # an array in it, which has no hash
        found = None
    if found is None:
        asked = chosen(read, call.shape)
        found = asked, _grouped([readout.lower(call.shape) for readout in asked])
        if isinstance(key, (Readout, tuple)) and all(is_plain(part) for one in asked for part in parts(one).values()):
            if len(kept) >= _MOST_READINGS:
                kept.clear()
            kept[key] = found
    return found


def _grouped(lowered: Sequence[LoweredReadout]) -> Groups:
    """Group lowered readouts that one pass can serve, with the indices of each group's members; usually one group."""
    groups: Groups = []
    for place, wanted in enumerate(lowered):
        for number, (together, members) in enumerate(groups):
            joined = together.joined(wanted)
            if joined is not None:
                groups[number] = joined, [*members, place]
                break
        else:
            groups.append((wanted, [place]))
    return groups


def _given_totals(call: Call) -> tuple[Array, Array] | None:
    """A given lse as row maxima in base 2 and row sums: 1, or 0 where lse is -inf."""
    if call.lse is None:
        return None
    with np.errstate(invalid="ignore"):
        maxima = (call.lse * math.log2(math.e)).astype(computed(call.q.dtype))
    return maxima, (maxima > -np.inf).astype(maxima.dtype)


def _primitives(
    call: Call,
    wanted: LoweredReadout,
    totals: tuple[Array, Array] | None,
    counted: NDArray[np.bool_] | None,
    row_total: float = 1.0,
) -> Primitives | None:
    """A lowered readout as the kernels' request; None if it needs no primitives of a pass."""
    if not wanted.of_a_pass:
        return None
    maxima, sums = totals or (None, None)
    stands, edges, first = wanted.row_distances, wanted.row_offsets, call.shard.first_query
    total = row_total * largest_totals(call, summed=wanted.column_sums or wanted.grid_sums)
    return Primitives(
        row_log_weights=wanted.row_log_weights,
        row_weights=wanted.row_log_weights and totals is None and call.spec.scores.weighs,
        row_distances=None if stands is None else stands + first,
        row_bins=wanted.row_bins,
        bins=wanted.bins,
        bin_times=wanted.bin_times,
        row_offsets=None if edges is None else tuple(edge + first for edge in edges),
        select=wanted.select,
        select_times=wanted.select_times,
        column_sums=wanted.column_sums,
        column_maxima=wanted.column_maxima,
        grid=wanted.grid,
        grid_sums=wanted.grid_sums,
        grid_maxima=wanted.grid_maxima,
        maxima=maxima,
        sums=sums,
        queries=call.shape.queries,
        first_query=first,
        row_total=total,
        counted=counted,
    )


class _Weighed:
    """The weights of a pass: their normalisation, and the results computed from them."""

    def __init__(
        self, call: Call, done: Pass, totals: tuple[Array, Array] | None, counted: NDArray[np.bool_] | None
    ) -> None:
        self.call, self.done, self.totals, self._counted = call, done, totals, counted
        self._inside = computed(call.q.dtype)
        with np.errstate(divide="ignore"):
            self._log_sums = np.log2(done.sums)
        # The log of each row's sum over the keys that are here, (B, H, N), in base 2.
        self._lse = done.maxima + self._log_sums

    @property
    def lse(self) -> Array:
        """The log-sum-exp that normalises the weights, (B, H, N), in natural units."""
        return self._lse * math.log(2) if self.call.lse is None else self.call.lse

    def row_total(self) -> float:
        """The largest possible sum of a row's weights: above 1 only where a given lse is below these keys' own.

        Raises:
            ValueError: if it is so far below that the weights can't be summed.
        """
        if self.call.lse is None:
            return 1.0
        own = self._lse * math.log(2)
        with np.errstate(invalid="ignore"):
            above = np.where(own > -np.inf, own - self.call.lse, -np.inf)
        most = float(np.fmax.reduce(above, axis=None, initial=-np.inf))
        if most > _LARGEST_TOTAL:
            at = np.unravel_index(int(np.nanargmax(above)), above.shape)
            raise ValueError(
                worded(
                    "lse must be the log of a total that these keys are part of, at least their own, {own:.6g}, "
                    "got {lse:.6g}",
                    own=own[at],
                    lse=self.call.lse[at],
                )
            )
        return max(math.exp(most), 1.0) if most > _ROUNDING else 1.0

    def led(self, x: Array) -> Array:
        """An array (B, H, ...) with the call's leading axes; floating types become the type of the computation."""
        x = x.astype(self._inside, copy=False) if x.dtype.kind == "f" else x
        return x.reshape(*self.call.rows[:-1], *x.shape[2:])

    def output(self) -> Array:
        """The output, (B, H, N, E), normalised by a given lse if there is one."""
        output, call = self.done.output, self.call
        if call.lse is None:
            return output
        share = _ratio(self._lse * math.log(2), call.lse)[..., None]
        if call.dtype == output.dtype:
            return (output * share).astype(output.dtype)
        wide = output.view(call.dtype).astype(np.float32) * share
        return np.asarray(wide.astype(call.dtype)).view(output.dtype)

    def sink(self) -> Array | None:
        """The share of each row that went to the sink."""
        sinks = self.call.spec.scores.sinks
        if sinks is None:
            return None
        share = _ratio(np.asarray(sinks, np.float64)[None, :, None], self.lse)
        return self.led(np.broadcast_to(share, self.lse.shape))

    def further(self, primitives: Primitives | None) -> PrimitiveResults | None:
        """The primitives of another pass over the same weights; None if there are none to read."""
        if primitives is None:
            return None
        return self.call.without_values().forward(primitives).found

    def found(self, wanted: LoweredReadout, read: PrimitiveResults | None) -> FoundPrimitives:
        """The primitives in the readouts' form, with those that a pass doesn't read."""
        looking = self._of_counted(self._looking()) if wanted.looking else None
        rectangle = None if wanted.rectangle is None else self._rectangle(*wanted.rectangle)
        if read is None:
            return FoundPrimitives(looking=looking, rectangle=rectangle)
        return FoundPrimitives(
            row_log_weights=self._of_counted(self._log_weights(read)) if wanted.row_log_weights else None,
            row_distances=read.row_distances,
            row_bins=read.row_bins,
            row_offsets=read.row_offsets,
            selected_keys=read.selected_keys,
            selected_weights=read.selected_weights,
            column_sums=read.column_sums,
            column_maxima=self._largest(read.column_maxima, None),
            grid_sums=read.grid_sums,
            grid_maxima=self._largest(read.grid_maxima, wanted.grid),
            looking=looking,
            rectangle=rectangle,
        )

    def _of_counted(self, x: Array, rows: Any = slice(None)) -> Array:
        """An array of these rows, (B, H, rows, ...), with 0 for queries that don't count."""
        if self._counted is None:
            return x
        counted = self._counted[:, rows]
        return np.where(counted.reshape(len(counted), 1, counted.shape[1], *(1,) * (x.ndim - 3)), x, x.dtype.type(0))

    def _log_weights(self, read: PrimitiveResults) -> Array:
        """Σ w ln w = ln 2 · (Σ w · (score - maximum) - log2 (total / 2^maximum) · Σ w); where weights are multiplied,
        the logarithms of their factors are in the first sum."""
        assert read.row_log_weights is not None
        if self.totals is not None:
            return np.asarray(read.row_log_weights * math.log(2))
        sums, sinks = self.done.sums, self.call.spec.scores.sinks
        if sinks is None:
            rest = np.where(sums > 0, self._log_sums, 0)
        else:
            looked = 1 - _ratio(np.asarray(sinks)[None, :, None], self._lse * math.log(2))
            with np.errstate(invalid="ignore"):
                rest = np.where((looked > 0) & (sums > 0), self._log_sums * looked, 0)
        if read.row_weights is not None:
            with np.errstate(invalid="ignore"):
                rest = np.where(rows_weighed(self.call) & (sums > 0), self._log_sums * read.row_weights, rest)
        return np.asarray((read.row_log_weights - rest) * math.log(2))

    def _looking(self) -> Array:
        """Whether each query may look at any key, (B, H, N); a sink alone doesn't count."""
        call = self.call
        if call.spec.scores.sinks is None or call.lse is not None:
            return np.asarray(self._lse > -np.inf)
        without = replace(call.spec, scores=replace(call.spec.scores, sinks=None))
        bare = forward(call.q, call.k, call.v[..., :0], without)
        return np.asarray(bare.sums > 0)

    def _largest(self, found: Array | None, grid: tuple[int, int] | None) -> Array | None:
        """Maxima that the kernels found; where weights may be below 0, those of the weights themselves."""
        if found is None or not has_negative(self.call):
            return found
        return largest_weights(self.call, self.totals or (self.done.maxima, self.done.sums), self._counted, grid)

    def _rectangle(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Array:
        """The weights of queries `rows` (without those outside the shard) on keys `columns`, positions in the whole."""
        call = self.call
        here = (rows := rows - call.shard.first_query)[(rows >= 0) & (rows < call.q.shape[2])]
        # Compute each row and column once, in order; then repeat and reorder them as requested.
        once, which_rows = np.unique(here, return_inverse=True)
        keys, which_columns = np.unique(columns, return_inverse=True)
        totals = self.totals or (self.done.maxima, self.done.sums)
        found = self._of_counted(weights(call.q, call.k, call.spec, *totals, once, keys), once)
        if np.array_equal(which_rows, np.arange(len(once))) and np.array_equal(which_columns, np.arange(len(keys))):
            return found
        return found[:, :, which_rows][..., which_columns]


#: In natural logs: a given total below the keys' own by up to a factor of 3 counts as rounding; 2^39 is the most.
_ROUNDING, _LARGEST_TOTAL = math.log(3), 39 * math.log(2)


def _ratio(part: Array, whole: Array) -> Array:
    """e^(part - whole); 0 where the part is -inf."""
    with np.errstate(invalid="ignore"):
        return np.where(part == -np.inf, 0.0, np.exp(part - whole))

"""What is asked of a call's weights: said to the kernels, and their answers made into an observation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.launch import computed
from eyeline.kernels.primitives import PrimitiveResults, Primitives
from eyeline.kernels.run import forward, weights
from eyeline.masks import edges
from eyeline.readouts import Entropy, GroupMass, MeanDistance, Pooled, Readout, Received, TopK, Weights
from eyeline.readouts.observation import Observation, TopKeys

if TYPE_CHECKING:
    from eyeline.attention.call import Call

Array = NDArray[Any]


class Reading:
    """One pass for all that is asked. `done` is the pass; `observation` makes its answers."""

    def __init__(self, call: Call, asked: tuple[Readout, ...]) -> None:
        self.call, self.asked = call, asked
        self.kind = computed(call.q.dtype)
        self.totals = None
        if call.lse is not None:
            with np.errstate(invalid="ignore"):
                maxima = (call.lse * math.log2(math.e)).astype(self.kind)
            self.totals = maxima, (maxima > -np.inf).astype(self.kind)
        self.done = call.forward(self._primitives())
        done = self.done
        with np.errstate(divide="ignore"):
            self.base_2 = done.maxima + np.log2(done.sums)

    def _primitives(self) -> Primitives | None:
        call, wanted = self.call, {type(one): one for one in self.asked}
        problem = call.problem
        fields: dict[str, Any] = {"row_log_weights": Entropy in wanted}
        for one in self.asked:
            match one:
                case TopK():
                    fields["select"] = one.k
                case MeanDistance():
                    standing = one.positions(problem)
                    fields["row_distances"] = int(standing[0]) + call.shard.first_query if len(standing) else 0
                case GroupMass():
                    labels = np.ascontiguousarray(one.labels(problem), np.int32)
                    fields |= {"row_bins": labels, "bins": one.count}
                case Received(reduce="max"):
                    fields["column_maxima"] = True
                case Received():
                    fields["column_sums"] = True
                case Pooled():
                    fields["grid"] = min(one.rows, problem.queries), min(one.columns, problem.keys)
                    fields["grid_maxima" if one.reduce == "max" else "grid_sums"] = True
        if not (wanted.keys() - {Weights}):
            return None
        fields |= {"queries": problem.queries, "first_query": call.shard.first_query}
        if self.totals is not None:
            fields |= {"maxima": self.totals[0], "sums": self.totals[1]}
        return Primitives(**fields)

    def observation(self) -> Observation:
        call, done = self.call, self.done
        lse = self.base_2 * math.log(2)
        output = done.output
        if call.lse is not None:
            output = self._scaled(output, _share(lse, call.lse))
            lse = call.lse
        found: dict[str, Any] = {}
        for one in self.asked:
            found |= self._answer(one, done.found)
        sinks, sink = call.setting.scores.sinks, None
        if sinks is not None:
            sink = _share(np.asarray(sinks, np.float64)[None, :, None], lse)
            sink = self._rows(np.broadcast_to(sink, lse.shape))
        return Observation(
            output=call.shaped(output),
            lse=self._rows(lse),
            sink=sink,
            read=self.asked,
            relative_to_whole=call.lse is not None,
            **found,
        )

    def _scaled(self, output: Array, share: Array) -> Array:
        """Rows that sum to what part of a given total they are."""
        if self.call.dtype == output.dtype:
            return (output * share[..., None]).astype(output.dtype)
        wide = output.view(self.call.dtype).astype(np.float32) * share[..., None]
        return np.asarray(wide.astype(self.call.dtype)).view(output.dtype)

    def _rows(self, x: Array) -> Array:
        """Numbers per query, with the leading axes that were given."""
        return x.astype(self.kind, copy=False).reshape(*self.call.rows, *x.shape[3:])

    def _heads(self, x: Array) -> Array:
        return x.astype(self.kind, copy=False).reshape(*self.call.rows[:-1], *x.shape[2:])

    def _answer(self, one: Readout, found: PrimitiveResults | None) -> dict[str, Any]:
        if isinstance(one, Weights):
            return {"weights": self._heads(self._rectangle(one))}
        assert found is not None
        match one:
            case TopK():
                assert found.selected_keys is not None
                assert found.selected_weights is not None
                keys = found.selected_keys.reshape(*self.call.rows, one.k)
                return {"top_k": TopKeys(keys, self._rows(found.selected_weights))}
            case Entropy():
                return {"entropy": self._rows(self._entropy(found))}
            case MeanDistance():
                assert found.row_distances is not None
                return {"mean_distance": self._rows(found.row_distances)}
            case GroupMass():
                assert found.row_bins is not None
                return {"group_mass": self._rows(found.row_bins)}
            case Received():
                return self._received(one, found)
            case Pooled():
                return {"pooled": self._heads(self._picture(one, found)), "pooled_over": self._whole()}
        raise AssertionError(one)

    def _whole(self) -> tuple[int, int]:
        return self.call.problem.queries, self.call.problem.keys

    def _entropy(self, found: PrimitiveResults) -> Array:
        """-Σ w ln w = ln 2 · (log2 (total / 2^maximum) · Σ w - Σ w · (score - maximum))."""
        assert found.row_log_weights is not None
        if self.totals is not None:
            return np.asarray(-found.row_log_weights * math.log(2)) + 0.0
        done, sinks = self.done, self.call.setting.scores.sinks
        looked = np.asarray(done.sums > 0, self.kind)
        if sinks is not None:
            looked = 1 - _share(np.asarray(sinks)[None, :, None], self.base_2 * math.log(2))
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(looked > 0, np.log2(done.sums) * looked, 0)
        return np.asarray((rest - found.row_log_weights) * math.log(2)) + 0.0

    def _received(self, one: Received, found: PrimitiveResults) -> dict[str, Any]:
        if one.reduce == "max":
            assert found.column_maxima is not None
            return {"received": self._heads(found.column_maxima)}
        received = found.column_sums
        assert received is not None
        if one.reduce == "sum":
            return {"received": self._heads(received)}
        looking = self._looking()
        mean = received / np.maximum(looking.sum(axis=2), 1)[..., None]
        return {"received": self._heads(mean), "looking": looking.reshape(self.call.rows)}

    def _looking(self) -> Array:
        """Which queries may look at any key, (B, H, N): not those that a sink alone gives a total."""
        sinks = self.call.setting.scores.sinks
        if sinks is None or self.call.lse is not None:
            return np.asarray(self.base_2 > -np.inf)
        without = replace(self.call.setting, scores=replace(self.call.setting.scores, sinks=None))
        bare = forward(self.call.q, self.call.k, self.call.v[..., :0], without)
        return np.asarray(bare.sums > 0)

    def _picture(self, one: Pooled, found: PrimitiveResults) -> Array:
        rows, columns = self._whole()
        height, width = min(one.rows, rows), min(one.columns, columns)
        if one.reduce == "max":
            assert found.grid_maxima is not None
            picture = found.grid_maxima
        else:
            assert found.grid_sums is not None
            counts = [np.diff(edges(whole, n)) for n, whole in ((height, rows), (width, columns))]
            picture = found.grid_sums / np.maximum(np.multiply.outer(*counts), 1)
        for axis, (count, bins) in enumerate(((one.rows, height), (one.columns, width)), start=2):
            if count > bins:
                shape = (*picture.shape[:axis], count, *picture.shape[axis + 1 :])
                picture = np.take(picture, np.arange(count) * bins // count, axis) if bins else np.zeros(shape)
        return np.asarray(picture)

    def _rectangle(self, one: Weights) -> Array:
        call = self.call
        # Each row and column once, in order; then as often, and in the order, in which they were asked for.
        rows, which_rows = np.unique(one.rows(call.q.shape[2]), return_inverse=True)
        columns, which_columns = np.unique(one.columns(call.problem.keys), return_inverse=True)
        totals = self.totals or (self.done.maxima, self.done.sums)
        found = weights(call.q, call.k, call.setting, *totals, rows, columns)
        if np.array_equal(which_rows, np.arange(len(rows))) and np.array_equal(which_columns, np.arange(len(columns))):
            return found
        return found[:, :, which_rows][..., which_columns]


def _share(part: Array, whole: Array) -> Array:
    """e^(part - whole); of nothing, nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(part == -np.inf, 0.0, np.exp(part - whole))

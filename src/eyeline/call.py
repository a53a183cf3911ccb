"""One call on NumPy arrays: its arrays as the kernels take them, its mask and scores lowered, what is read of it.

This room may import `kernels` and all below. It has no torch; `torch` uses it as `attention` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.checks import check_arrays, check_mask, check_scale
from eyeline.dropout import check_dropout
from eyeline.kernels.reads import Found, Reads
from eyeline.kernels.run import Pass, computed, forward, weights
from eyeline.kernels.setting import Setting
from eyeline.masks import Lowered, Mask, Problem
from eyeline.observation import Observation, TopKeys
from eyeline.part import Part
from eyeline.readouts import Distance, Entropy, Onto, Pooled, Readout, Received, TopK, Weights, chosen
from eyeline.scores import Scores, lower

Array = NDArray[Any]


class Call:
    """One call: q (B, H, N, D), k (B, G, M, D), v (B, G, M, E), as the kernels take them, and its setting.

    Arrays that were `checked` before may be of uint16, the bits of bfloat16, which NumPy hasn't.
    """

    def __init__(
        self,
        q: Array,
        k: Array,
        v: Array,
        *,
        mask: Mask | None = None,
        scale: float | None = None,
        scores: Scores = (),
        dropout: float = 0.0,
        seed: int | None = None,
        part: Part | None = None,
        lse: ArrayLike | None = None,
        checked: bool = False,
    ) -> None:
        if not checked:
            check_arrays(q, k, v)
        self.rows = q.shape[:-1]
        self.dtype = q.dtype
        self.part = part or Part()
        if not isinstance(self.part, Part):
            raise TypeError(f"part must be an eyeline.Part, got {part!r}")
        self.q, self.k, self.v = (_bits(_four_axes(x)) for x in (q, k, v))
        _, H, N, D = self.q.shape
        whole = self.part.of(N, self.k.shape[2])
        self.problem = Problem(q.shape[:-3] or (1,), H, *whole)
        self.setting = Setting(
            check_scale(scale, q.dtype) if scale is not None else 1 / math.sqrt(D) if D else 1.0,
            self._seen(check_mask(mask)),
            lower(scores, self.problem),
            *check_dropout(dropout, seed),
            first_query=self.part.first_query,
            first_key=self.part.first_key,
            queries=whole[0],
            keys=whole[1],
        )
        self.lse = None if lse is None else self._given_lse(lse)

    def _seen(self, mask: Mask | None) -> Lowered | None:
        """The mask of these queries; keys that aren't here are hidden."""
        first, here, N = self.part.first_key, self.k.shape[2], self.q.shape[2]
        if mask is None and here == self.problem.keys:
            return None
        lowered = Lowered(np.array([0, self.problem.keys], np.int32).reshape(1, 1, 1, 1, 2))
        if mask is not None:
            lowered = mask.lower(self.problem)
        bounds, allowed = lowered.bounds, lowered.allowed
        rows = slice(self.part.first_query, self.part.first_query + N)
        if self.problem.queries != N:
            bounds = bounds if bounds.shape[2] == 1 else bounds[:, :, rows]
            allowed = allowed if allowed is None or allowed.shape[2] == 1 else allowed[:, :, rows]
        if here != self.problem.keys:
            bounds = np.clip(bounds, first, first + here)
        return replace(lowered, bounds=np.ascontiguousarray(bounds), allowed=allowed)

    def _given_lse(self, lse: ArrayLike) -> Array:
        given = np.asarray(lse, np.float64)
        if given.shape != self.rows:
            raise ValueError(f"lse must be one number per query, {self.rows}, got shape {given.shape}")
        return given.reshape(self.q.shape[:3])

    def forward(self, reads: Reads | None = None) -> Pass:
        """The kernels' pass. Where weights are shares of a given total, sinks are in it already."""
        setting = self.setting
        if self.lse is not None and setting.scores.sinks is not None:
            setting = replace(setting, scores=replace(setting.scores, sinks=None))
        return forward(self.q, self.k, self.v, setting, reads)

    def output(self) -> Array:
        return self.shaped(self.forward().output)

    def shaped(self, output: Array) -> Array:
        """A result (B, H, N, E) with the leading axes and the type of the arrays that were given."""
        return output.view(self.dtype).reshape(*self.rows, output.shape[-1])

    def observe(self, read: Readout | Sequence[Readout]) -> Observation:
        return self.look(read)[0]

    def look(self, read: Readout | Sequence[Readout]) -> tuple[Observation, Pass]:
        """What is observed, and the pass it is of, which the backward pass needs."""
        reading = _Reading(self, chosen(read, self.problem))
        return reading.observation(), reading.done


class _Reading:
    """What is asked of a call's weights, and the answers."""

    def __init__(self, call: Call, asked: tuple[Readout, ...]) -> None:
        self.call, self.asked = call, asked
        self.kind = computed(call.q.dtype)
        self.totals = None
        if call.lse is not None:
            with np.errstate(invalid="ignore"):
                maxima = (call.lse * math.log2(math.e)).astype(self.kind)
            self.totals = maxima, (maxima > -np.inf).astype(self.kind)
        self.done = call.forward(self._reads())
        done = self.done
        with np.errstate(divide="ignore"):
            self.base_2 = done.maxima + np.log2(done.sums)

    def _reads(self) -> Reads | None:
        call, wanted = self.call, {type(one): one for one in self.asked}
        problem = call.problem
        fields: dict[str, Any] = {"surprise": Entropy in wanted}
        for one in self.asked:
            match one:
                case TopK():
                    fields["top"] = one.k
                case Distance():
                    fields["distance"] = (
                        int(one.positions(problem)[0]) + call.part.first_query if problem.queries else 0
                    )
                case Onto():
                    labels = np.ascontiguousarray(one.labels(problem), np.int32)
                    fields |= {"labels": labels, "groups": one.count}
                case Received(reduce="max"):
                    fields["received_maxima"] = True
                case Received():
                    fields["received"] = True
                case Pooled():
                    fields["pool"] = min(one.rows, problem.queries), min(one.columns, problem.keys)
                    fields["pooled_maxima" if one.reduce == "max" else "pooled_sums"] = True
        if not (wanted.keys() - {Weights}):
            return None
        fields |= {"queries": problem.queries, "first_query": call.part.first_query}
        if self.totals is not None:
            fields |= {"maxima": self.totals[0], "sums": self.totals[1]}
        return Reads(**fields)

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

    def _answer(self, one: Readout, found: Found | None) -> dict[str, Any]:
        if isinstance(one, Weights):
            return {"weights": self._heads(self._rectangle(one))}
        assert found is not None
        match one:
            case TopK():
                assert found.top_keys is not None
                assert found.top_weights is not None
                keys = found.top_keys.reshape(*self.call.rows, one.k)
                return {"top_k": TopKeys(keys, self._rows(found.top_weights))}
            case Entropy():
                return {"entropy": self._rows(self._entropy(found))}
            case Distance():
                assert found.distance is not None
                return {"distance": self._rows(found.distance)}
            case Onto():
                assert found.onto is not None
                return {"onto": self._rows(found.onto)}
            case Received():
                return self._received(one, found)
            case Pooled():
                return {"pooled": self._heads(self._picture(one, found)), "pooled_over": self._whole()}
        raise AssertionError(one)

    def _whole(self) -> tuple[int, int]:
        return self.call.problem.queries, self.call.problem.keys

    def _entropy(self, found: Found) -> Array:
        """-Σ w ln w = ln 2 · (log2 (total / 2^maximum) · Σ w - Σ w · (score - maximum))."""
        assert found.surprise is not None
        if self.totals is not None:
            return np.asarray(-found.surprise * math.log(2)) + 0.0
        done, sinks = self.done, self.call.setting.scores.sinks
        looked = np.asarray(done.sums > 0, self.kind)
        if sinks is not None:
            looked = 1 - _share(np.asarray(sinks)[None, :, None], self.base_2 * math.log(2))
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(looked > 0, np.log2(done.sums) * looked, 0)
        return np.asarray((rest - found.surprise) * math.log(2)) + 0.0

    def _received(self, one: Received, found: Found) -> dict[str, Any]:
        if one.reduce == "max":
            assert found.received_maxima is not None
            return {"received": self._heads(found.received_maxima)}
        received = found.received
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

    def _picture(self, one: Pooled, found: Found) -> Array:
        rows, columns = self._whole()
        height, width = min(one.rows, rows), min(one.columns, columns)
        if one.reduce == "max":
            assert found.pooled_maxima is not None
            picture = found.pooled_maxima
        else:
            assert found.pooled is not None
            counts = [np.diff(np.arange(n + 1) * whole // max(n, 1)) for n, whole in ((height, rows), (width, columns))]
            picture = found.pooled / np.maximum(np.multiply.outer(*counts), 1)
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


def _bits(x: Array) -> Array:
    """bfloat16, which NumPy hasn't of its own, as its bits."""
    return x.view(np.uint16) if x.dtype.name == "bfloat16" else x


def _four_axes(x: Array) -> Array:
    """(B, heads, tokens, width), without a copy where the leading axes allow it."""
    if x.ndim == 4:
        return x
    if x.ndim < 4:
        return x[(None,) * (4 - x.ndim)]
    return x.reshape(math.prod(x.shape[:-3]), *x.shape[-3:])

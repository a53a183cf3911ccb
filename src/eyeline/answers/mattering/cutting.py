"""Cut heads and looks one after the other, and keep what is done when it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np

from eyeline.answers.mattering.answer import Edge
from eyeline.answers.mattering.looking import StrongLook, strongest_looks
from eyeline.answers.mattering.prepared import Prepared
from eyeline.traces import Cancelled, Trace

#: The heads whose looks are cut: those that matter most.
EDGE_HEADS = 8


class Cutting:
    """Cuts heads and looks, until it is stopped.

    Args:
        ready: the question.
        heads_done: called with the number of finished heads and of all heads.
        cancelled: returns whether to stop.

    Attributes:
        heads: the effects, (L, H); NaN for heads that weren't cut.
        complete: whether nothing was left out.
    """

    def __init__(
        self,
        ready: Prepared,
        heads_done: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._ready = ready
        self._heads_done, self._cancelled = heads_done, cancelled
        self.heads = np.full((ready.model.layers, ready.model.heads), np.nan)
        self.complete = True

    def cut_heads(self) -> None:
        """Cut each head.

        From the last layer to the first: the fewer layers come after, the sooner its heads are done, so that the most
        are kept when it is stopped.

        Raises:
            Cancelled: if it was stopped before a head was done; or KeyboardInterrupt.
        """
        layers, heads = self.heads.shape
        try:
            for layer in reversed(range(layers)):
                self._check()
                self.heads[layer] = self._ready.of_layer(layer)
                if self._heads_done is not None:
                    self._heads_done((layers - layer) * heads, layers * heads)
        except (Cancelled, KeyboardInterrupt):
            self.complete = False
            if np.isnan(self.heads).all():
                raise

    def cut_looks(self, trace: Trace, count: int) -> tuple[Edge, ...]:
        """Cut the strongest looks of the heads that matter most.

        Args:
            trace: the run.
            count: how many looks.

        Returns:
            The edges, the largest effect first.
        """
        edges: list[Edge] = []
        if not count or not self.complete:
            return ()
        N = len(trace.queries)
        sizes = np.abs(self.heads)
        order = np.argsort(-sizes, axis=None, kind="stable")[: min(EDGE_HEADS, count)].tolist()
        shares = [count // len(order) + (place < count % len(order)) for place in range(len(order))]
        looks: list[tuple[int, StrongLook]] = []
        last = len(self.heads) - 1
        for place, share in zip(order, shares, strict=True):
            layer, head = divmod(place, self.heads.shape[1])
            # In the last layer, other tokens' looks change nothing that is measured.
            own = self._ready.subject.rows if layer == last else range(N)
            looks += [(layer, look) for look in strongest_looks(trace, layer, head, share, own)]
        looks.sort(key=lambda one: -one[0])
        try:
            for layer, group in groupby(looks, key=lambda one: one[0]):
                self._check()
                here = [look for _, look in group]
                found = self._ready.of_looks(layer, [(one.head, one.query, one.key) for one in here])
                edges += [
                    Edge(layer, one.head, one.query, one.key, float(effect), one.weight, one.passed)
                    for one, effect in zip(here, found, strict=True)
                ]
        except (Cancelled, KeyboardInterrupt):
            self.complete = False
        edges.sort(key=lambda one: (-abs(one.effect), one.layer, one.head, one.query, one.key))
        return tuple(edges)

    def _check(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled

"""The effects of a text's heads, computed in a thread, so that the page can follow and stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from eyeline.answers.mattering import Effects
from eyeline.traces import Cancelled


class EffectsRun:
    """One computation of effects.

    Args:
        compute: computes them; it calls its first argument with the number of finished heads and of all heads, and its
            second to learn whether to stop.

    Attributes:
        done, count: the number of finished heads, and of all; 0 until known.
        found: the effects; None while they are computed, or if the computation was stopped before a head was done.
        error: what went wrong, if anything.
        over: whether it has ended.
    """

    def __init__(self, compute: Callable[[Callable[[int, int], None], Callable[[], bool]], Effects]) -> None:
        self.done, self.count = 0, 0
        self.found: Effects | None = None
        self.error: Exception | None = None
        self.over = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(compute,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop: what is done so far is kept."""
        self._stop.set()

    def wait(self, seconds: float) -> None:
        """Wait until it has ended, or for so long."""
        self._thread.join(seconds)

    def _run(self, compute: Callable[[Callable[[int, int], None], Callable[[], bool]], Effects]) -> None:
        def heads_done(done: int, count: int) -> None:
            self.done, self.count = done, count

        try:
            self.found = compute(heads_done, self._stop.is_set)
        except Cancelled:
            pass
        except Exception as error:
            self.error = error
        self.over = True  # set last: whoever sees it finds the outcome

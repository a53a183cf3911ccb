"""Background jobs, one at a time, each in a thread: their progress, their outcome, and cancelling them."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from eyeline.serving.refusal import RefusalError, own_mistake
from eyeline.traces import Cancelled
from eyeline.words import worded

#: The number of finished jobs kept.
REMEMBERED = 16


class Job:
    """One job.

    Attributes:
        number: its number, from 1.
        state: "running"; then "done", "failed" or "cancelled".
        line: a line of text on its current work.
        layers: (finished, all); (0, 0) until known.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.state = "running"
        self.line = ""
        self.layers = (0, 0)
        self._began = time.monotonic()
        self._ended: float | None = None
        self._outcome: dict[str, Any] = {}
        self._stop = threading.Event()

    def say(self, line: str) -> None:
        """Set the line. Raises Cancelled if the job was cancelled: a download can't be stopped in another way."""
        if self._stop.is_set():
            raise Cancelled
        self.line = line

    def layer_done(self, done: int, layers: int) -> None:
        """Set the number of finished layers."""
        self.layers = (done, layers)

    def cancelled(self) -> bool:
        """Whether the job was cancelled."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """Cancel the job: it stops at its next check."""
        self._stop.set()

    def end(self, state: str, **outcome: Any) -> None:
        """Set the outcome."""
        self._ended = time.monotonic()
        self._outcome = outcome
        self.state = state  # set last: whoever sees the final state finds the outcome

    def report(self) -> dict[str, Any]:
        """The job's state, for the page."""
        over = self.state != "running"
        return {
            "job": self.number,
            "state": self.state,
            "line": self.line,
            "layers": list(self.layers),
            "seconds": round((self._ended or time.monotonic()) - self._began, 3),
            **(self._outcome if over else {}),
        }


class Jobs:
    """The running job, and the last finished ones.

    Args:
        user_error: returns the argument and message of an error that the user can correct; None for a bug of ours.
    """

    def __init__(self, user_error: Callable[[Exception], Mapping[str, str] | None]) -> None:
        self._user_error = user_error
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self, work: Callable[[Job], Mapping[str, Any]]) -> Job:
        """Start a job; the result of `work` is reported when it is done.

        Raises:
            RefusalError: 409 while another job runs: two models at once would compete for processors and memory.
        """
        with self._lock:
            running = next((job for job in self._jobs.values() if job.state == "running"), None)
            if running is not None:
                message = worded("another text is being run; wait for it, or cancel it")
                raise RefusalError(409, "text", message, job=running.number)
            for number in list(self._jobs)[: 1 - REMEMBERED]:
                del self._jobs[number]
            self._count += 1
            job = self._jobs[self._count] = Job(self._count)
        self._thread = threading.Thread(target=self._run, args=(job, work), daemon=True)
        self._thread.start()
        return job

    def job(self, number: str) -> Job:
        """The job with a number from a path. Raises RefusalError, 404, if there is none (any more)."""
        found = next((job for job in self._jobs.values() if str(job.number) == number), None)
        if found is None:
            raise RefusalError(
                404, "job", worded("job must be one that runs or ran lately, got {number!r}", number=number[:20])
            )
        return found

    def close(self, seconds: float = 5.0) -> None:
        """Cancel the running job, and wait until it ends."""
        for job in list(self._jobs.values()):
            job.cancel()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, job: Job, work: Callable[[Job], Mapping[str, Any]]) -> None:
        try:
            outcome = work(job)
        except Cancelled:
            job.end("cancelled")
        except Exception as error:
            said = self._user_error(error)
            if said is None:
                traceback.print_exception(error)
                said = {
                    "argument": "text",
                    "message": own_mistake(),
                }
            job.end("failed", error=dict(said))
        else:
            job.end("done", **outcome)

"""The progress of a survey on stderr: documents, tokens a second, time left, what was skipped or is waited for."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from eyeline.words import local_number, worded

if TYPE_CHECKING:
    from eyeline.surveys.progress import Progress

#: The pace is that of so many records, the last ones: the first blocks of a run are slower than the others.
_RECENT = 20
#: Where stderr is no terminal, what is waited for is said once, after so many seconds.
_PATIENCE = 60.0


class Pace:
    """How fast a survey is, and how long it still takes, from its records and a clock.

    Args:
        clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._recent: deque[tuple[float, int, int]] = deque(maxlen=_RECENT)
        self._left: int | None = None

    def add(self, record: Progress) -> None:
        """Take a record in; those with a note are none of the measuring."""
        self._left = record.characters_left
        if not record.note and (not self._recent or record.tokens > self._recent[-1][1]):
            self._recent.append((self._clock(), record.tokens, record.characters))

    @property
    def tokens_a_second(self) -> float | None:
        """Tokens a second; None before there are two records."""
        return self._rate(1)

    @property
    def seconds_left(self) -> float | None:
        """The time left now, in seconds; None where it isn't known. It goes down between two records too."""
        characters = self._rate(2)
        if not characters or self._left is None:
            return None
        return max(self._left / characters - (self._clock() - self._recent[-1][0]), 0.0)

    def _rate(self, of: int) -> float | None:
        if len(self._recent) < 2:
            return None
        first, last = self._recent[0], self._recent[-1]
        return (last[of] - first[of]) / max(last[0] - first[0], 1e-9)


def line_of(record: Progress, pace: Pace) -> str:
    """A record in a line, such as "12 of 50 documents · 3,100 tokens a second · 0:04:12 left · 2 skipped"."""
    if record.note and not record.documents:
        return record.note
    if record.documents_in_all is None:
        parts = [worded("{count} documents", count=local_number(record.documents))]
    else:
        parts = [
            worded(
                "{done} of {count} documents",
                done=local_number(record.documents),
                count=local_number(record.documents_in_all),
            )
        ]
    if pace.tokens_a_second is not None and not record.note:
        parts.append(worded("{count} tokens a second", count=local_number(pace.tokens_a_second)))
    if pace.seconds_left is not None and not record.note:
        parts.append(worded("{time} left", time=timedelta(seconds=round(pace.seconds_left))))
    if record.skipped:
        parts.append(worded("{count} skipped", count=local_number(record.skipped)))
    return " · ".join([*parts, record.note] if record.note else parts)


class SurveyShown:
    """Shows a survey's records: on a terminal as a bar that is erased at the end; elsewhere nothing, but what is waited
    for longer than a minute.

    Attributes:
        last: the last record; None before the first.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.last: Progress | None = None
        self._pace = Pace(clock)
        self._clock = clock
        self._bar: Any = None
        self._task: Any = None
        self._waits = ("", 0.0)

    def __call__(self, record: Progress) -> None:
        self.last = record
        self._pace.add(record)
        if self._bar is None:
            self._said_once(record.note)
        else:
            self._bar.update(self._task, completed=record.documents, total=record.documents_in_all)

    def _line(self) -> str:
        return "" if self.last is None else line_of(self.last, self._pace)

    def _said_once(self, note: str) -> None:
        waits, since = self._waits
        if note != waits:
            self._waits = (note, self._clock())
        elif note and self._clock() - since >= _PATIENCE:
            print(note, file=sys.stderr, flush=True)
            self._waits = (note, float("inf"))

    def __enter__(self) -> SurveyShown:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, ProgressColumn, Task, TimeElapsedColumn
            from rich.text import Text

            line = self._line

            class Line(ProgressColumn):
                """The last record in a line, made anew at each refresh: the time left goes down."""

                def render(self, task: Task) -> Text:
                    return Text(line())

            columns = (BarColumn(bar_width=20), TimeElapsedColumn(), Line())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Erase what is shown."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

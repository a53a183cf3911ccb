"""Dates in the forms in which people write them, for `examples/dates.py` to learn from."""

from __future__ import annotations

import datetime
import random
import string
from dataclasses import dataclass

PARTS = ("day", "month", "year")
OTHER = -1
MONTHS = [datetime.date(2000, month, 1).strftime("%B") for month in range(1, 13)]
FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
START, END, UNKNOWN = "[START]", "[END]", "[UNK]"  # before and after what is written; in place of a letter not known
LETTERS = [START, END, UNKNOWN, *string.digits, *"-., /", *string.ascii_letters]
NUMBER = {letter: number for number, letter in enumerate(LETTERS)}
READ, WRITTEN = 64, 11  # the most letters of a date; those of 2021-03-03, and the end
FORMS = 32  # sixteen, each as it is usually written and in small letters


@dataclass(frozen=True)
class Example:
    """A date as someone might write it; the part of `PARTS` that each letter belongs to, or -1; and the answer."""

    text: str
    parts: list[int]
    answer: str


def write(day: datetime.date, form: int) -> Example:
    """The date in one of the forms.

    >>> write(datetime.date(2021, 3, 4), 6)
    Example(text='04.03.2021', parts=[0, 0, -1, 1, 1, -1, 2, 2, 2, 2], answer='2021-03-04')
    >>> write(datetime.date(2021, 3, 4), 16).text
    '4th of march, 2021'
    """
    d, m, y = (str(day.day), 0), (MONTHS[day.month - 1], 1), (str(day.year), 2)
    th, short, number = (ordinal(day.day), 0), (m[0][:3], 1), (str(day.month), 1)
    dd, mm = (f"{day.day:02}", 0), (f"{day.month:02}", 1)
    forms: list[list[tuple[str, int] | str]] = [
        [th, " of ", m, ", ", y],
        [m, " ", d, ", ", y],
        [d, " ", short, " ", y],
        [f"{day:%A}, ", d, " ", m, " ", y],
        [short, " ", th, " ", y],
        [y, ", ", m, " ", d],
        [dd, ".", mm, ".", y],
        [m, " ", th, ", ", y],
        ["the ", th, " of ", m, " ", y],
        [d, " ", m, " ", y],
        [f"{day:%a} ", d, " ", short, ". ", y],
        [y, "-", mm, "-", dd],
        [d, ".", number, ".", y],
        [dd, "/", mm, "/", y],
        [th, " ", m, " ", y],
        [m, " ", d, " ", y],
    ]
    small, which = divmod(form % FORMS, len(forms))
    pieces = [(piece, OTHER) if isinstance(piece, str) else piece for piece in forms[which]]
    text = "".join(letters for letters, _ in pieces)
    parts = [part for letters, part in pieces for _ in letters]
    return Example(text.lower() if small else text, parts, day.isoformat())


def ordinal(day: int) -> str:
    """
    >>> ordinal(3), ordinal(11), ordinal(21)
    ('3rd', '11th', '21st')
    """
    ending = "th" if 10 <= day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def dates(seed: int) -> tuple[list[datetime.date], list[datetime.date]]:
    """Two centuries of days in random order: days for training, and 2,000 held-out days."""
    days = [FIRST + datetime.timedelta(number) for number in range((LAST - FIRST).days + 1)]
    random.Random(seed).shuffle(days)
    return days[2000:], days[:2000]

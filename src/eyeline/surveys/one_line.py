"""An error on one line."""

from __future__ import annotations


def one_line(error: BaseException, most: int = 200) -> str:
    """An error's message on one line, or its type's name if it has none.

    >>> one_line(ValueError("too\\n  long")), one_line(KeyError())
    ('too long', 'KeyError')
    """
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= most else said[: most - 1] + "…"

"""Numbers as texts have them."""

from __future__ import annotations

from eyeline.words.translations import page_text

_THOUSANDS = slice(1, -3)  # of "1,000"


def local_number(value: float, digits: int = 0) -> str:
    """A number with the current language's mark between its thousands, and a decimal point in every language.

    Args:
        value: the number.
        digits: how many digits follow the point.

    >>> local_number(2809), local_number(1234.5, 1)
    ('2,809', '1,234.5')
    """
    return f"{value:,.{digits}f}".replace(",", page_text("number.thousands")[_THOUSANDS])

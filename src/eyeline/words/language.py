"""The language of texts: the chosen one, else `EYELINE_LANG`, else the locale's, else English."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ENGLISH = "en"
VARIABLE = "EYELINE_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_chosen: str | None = None


@cache
def languages() -> tuple[str, ...]:
    """The codes of all languages, English first."""
    return (ENGLISH, *sorted(path.parent.parent.name for path in HERE.glob("*/LC_MESSAGES/eyeline.po")))


def known(name: str) -> str | None:
    """The code of the language for a name such as `vi`, `vi-VN` or `vi_VN.UTF-8`; None if there is none.

    >>> known("vi_VN.UTF-8"), known("EN"), known("eo")
    ('vi', 'en', None)
    """
    code = re.split(r"[-_.@]", name.strip().lower())[0]
    return code if code in languages() else None


def choose(code: str | None) -> None:
    """Choose the language of this process, one of `languages()`; None returns to that of the environment."""
    global _chosen
    _chosen = code


def chosen() -> str | None:
    """The language chosen for this process; None if none was."""
    return _chosen


def language() -> str:
    """The code of the current language of texts."""
    if _chosen is not None:
        return _chosen
    if (found := known(os.environ.get(VARIABLE, ""))) is not None:
        return found
    locale = next(filter(None, map(os.environ.get, _LOCALE)), "")  # the first variable that is set decides
    return known(locale) or ENGLISH

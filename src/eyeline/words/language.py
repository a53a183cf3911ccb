"""Which language texts are in: the one that was chosen, `EYELINE_LANG`, the locale's; else English."""

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
    """The code of a language that a name such as `vi`, `vi-VN` or `vi_VN.UTF-8` means, if there is one.

    >>> known("vi_VN.UTF-8"), known("EN"), known("eo")
    ('vi', 'en', None)
    """
    code = re.split(r"[-_.@]", name.strip().lower())[0]
    return code if code in languages() else None


def choose(code: str | None) -> None:
    """Choose the language of this process: one of `languages()`; None goes back to what the environment says."""
    global _chosen
    _chosen = code


def chosen() -> str | None:
    """The language that was chosen for this process, if one was."""
    return _chosen


def language() -> str:
    """The code of the language that texts are in now."""
    if _chosen is not None:
        return _chosen
    if (found := known(os.environ.get(VARIABLE, ""))) is not None:
        return found
    locale = next(filter(None, map(os.environ.get, _LOCALE)), "")  # the first that is set decides
    return known(locale) or ENGLISH

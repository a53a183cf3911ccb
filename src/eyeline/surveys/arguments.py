"""The arguments of a survey, checked before anything is read or run."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from eyeline.surveys.errors import SurveyError, needed
from eyeline.surveys.one_line import one_line
from eyeline.surveys.settings import Settings
from eyeline.words import worded

#: Who can measure a survey's blocks.
ENGINES = ("local", "ray")
#: The shortest window: special tokens at both ends, and text enough for an overlap.
SHORTEST = 8


def check_engine(on: str, address: str | None, workers: int | None) -> None:
    """Check who is to measure.

    Raises:
        SurveyError: if there is no such engine, it isn't installed, or an argument doesn't belong to it.
    """
    if on not in ENGINES:
        raise SurveyError(worded("on must be 'local' or 'ray', got {value!r}", value=on))
    if on == "ray" and find_spec("ray") is None:
        needed("ray", "on='ray'", "ray")
    for name, value in (("address", address), ("workers", workers)):
        if value is not None and on != "ray":
            raise SurveyError(worded("{name} must be left out without Ray, got {value!r}; add on='ray'",
                                     name=name, value=value))  # fmt: skip
    if address is not None and not (isinstance(address, str) and address.strip()):
        raise SurveyError(worded("address must be a cluster's, as '10.0.0.1:6379', got {value!r}", value=address))
    if workers is not None:
        _whole("workers", workers, 1)


def check_sizes(window: Any, overlap: Any, block: Any, examples: Any) -> None:
    """Check the settings as far as that goes without the model.

    Raises:
        SurveyError: if one isn't a whole number, or is out of range.
    """
    if window is not None:
        _whole("window", window, SHORTEST)
    if overlap is not None:
        _whole("overlap", overlap, 0)
    if block is not None:
        _whole("block", block, 1)
    for count in examples if isinstance(examples, tuple) else (examples,):
        _whole("examples", count, 0)
    if isinstance(examples, tuple) and len(examples) != 2:
        raise SurveyError(worded("examples must be a number, or a pair: largest and sample; got {value!r}",
                                 value=examples))  # fmt: skip


def check_choices(**given: object) -> None:
    """Check arguments that are True or False.

    Raises:
        SurveyError: if one is something else: a text that is meant as "no" would count as yes.
    """
    for name, value in given.items():
        if not isinstance(value, bool):
            raise SurveyError(worded("{name} must be True or False, got {value!r}", name=name, value=value))


def chosen_settings(
    positions: int | None,
    longest: int,
    window: int | None,
    overlap: int | None,
    block: int | None,
    examples: int | tuple[int, int],
    classes: str | None,
) -> Settings:
    """The settings of a survey, with the defaults where nothing is given.

    Args:
        positions, longest: how many tokens the model reads at once, and by default; see `SurveyModel`.
        window, overlap, block, examples: as `survey` takes them, checked by `check_sizes`.
        classes: the labelling function's name.

    Raises:
        SurveyError: if the window doesn't fit the model, or the overlap the window.
    """
    longest = window or min(positions or longest, longest)
    if positions is not None and longest > positions:
        raise SurveyError(
            worded(
                "window must be at most {positions}, the model's positions, got {value}",
                positions=positions,
                value=longest,
            )
        )
    shared = longest // 8 if overlap is None else overlap
    if shared > longest // 2:
        raise SurveyError(
            worded(
                "overlap must be at most half of the window, {most}, got {value}",
                most=longest // 2,
                value=shared,
            )
        )
    largest, sample = examples if isinstance(examples, tuple) else (examples, examples)
    given = {} if block is None else {"block": int(block)}
    return Settings(int(longest), int(shared), largest=int(largest), sample=int(sample), classes=classes, **given)


def labelling(classes: Any) -> tuple[Callable[..., Any] | None, str | None]:
    """The user's function that labels tokens, and its name for the settings, "module:function".

    Args:
        classes: the function, or its name; None for none.

    Raises:
        SurveyError: if it is neither, or can't be imported.
    """
    if classes is None:
        return None, None
    if callable(classes):
        return classes, f"{classes.__module__}:{getattr(classes, '__qualname__', type(classes).__qualname__)}"
    module, colon, name = classes.partition(":") if isinstance(classes, str) else ("", "", "")
    if not (module and colon and name):
        raise SurveyError(worded("classes must be a function or its name, 'module:function', got {value!r}",
                                 value=classes))  # fmt: skip
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever the user's module raises
        raise SurveyError(
            worded(
                "classes must be a function that can be imported, got {value!r}: {reason}",
                value=classes,
                reason=one_line(error),
            )
        ) from error
    if not callable(found):
        raise SurveyError(worded("classes must be a function, got {value!r}, which is none", value=classes))
    return found, classes


def _whole(name: str, value: Any, least: int) -> None:
    try:
        whole = not isinstance(value, bool) and int(value) == value and int(value) >= least
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole:
        raise SurveyError(
            worded("{name} must be a whole number, {least} or more, got {value!r}", name=name, least=least, value=value)
        )

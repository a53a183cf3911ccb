"""The option parser's mistakes, said as ours are. Its classes are known by name, since typer has a click of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from eyeline.words import worded

_CHOICE = re.compile(r"(?:Value error, )?'(.*?)' is not (?:one of )?('.*?'(?:, '.*?')*)\.?", re.DOTALL)
_NUMBER = re.compile(r"'?.*?'? (?:is not|should be) a valid (integer|int|float|number)\b.*", re.DOTALL)
_RANGE = re.compile(r".* is not in the range (\S+?)<=x<=(\S+?)\.?")
_MOST = re.compile(r"Input should be (less|greater) than or equal to (\S+)")
_VALUE = re.compile(r"Invalid value for '?.*?'?: (.*)", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)
_COMMAND = re.compile(r"No such command '(.*?)'\.(?: Did you mean (.*?)\?)?", re.DOTALL)
_LACKS = re.compile(r"Option '?(.*?)'? requires (?:an argument|\d+ arguments)\.?")
_FLAG = re.compile(r"Option '?(.*?)'? does not take a value\.?")


def parsing_mistake(error: Any, given: Sequence[str] = ()) -> str:
    """The line for an error of the option parser; its own message, if it is none of those that people make.

    Args:
        error: the error.
        given: the arguments of the command line.
    """
    kind, message = type(error).__name__, str(error.format_message())
    context = getattr(error, "ctx", None)
    called = next((one for one in given if not one.startswith("-")), "")
    command = getattr(context, "command_path", f"eyeline {called}".strip())
    if kind == "NoSuchOption":
        return _no_option(error, command)
    if kind == "MissingParameter":
        return worded("{name} must be given; `{command} -h` shows how", name=_name(error), command=command)
    if found := _COMMAND.search(message):
        known = list(getattr(getattr(context, "command", None), "commands", ()))
        return _no_command(found[1], found[2] or ", ".join(get_close_matches(found[1], known)), command)
    if found := _EXTRA.fullmatch(message):
        return worded(
            "there must be no more words than `{command} -h` says, got {words!r} besides; leave it out",
            command=command,
            words=found[1],
        )
    if found := _LACKS.fullmatch(message):
        return worded("{name} must be followed by a value; `{command} -h` says which", name=found[1], command=command)
    if found := _FLAG.fullmatch(message):
        return worded("{name} must be given alone, got a value; leave the value out", name=found[1])
    if kind == "BadParameter":
        return _bad_value(error, message, given)
    return message


def _name(error: Any) -> str:
    """An option as it is typed, or an argument in capitals."""
    parameter = error.param
    if parameter is None:
        return str(error.param_hint)
    options = [one for one in parameter.opts if one.startswith("--")] or parameter.opts
    return str(options[0]) if options[0].startswith("-") else str(parameter.metavar or parameter.name.upper())


def _no_option(error: Any, command: str) -> str:
    near = sorted(error.possibilities or ())
    if near:
        return worded("there is no option {name}; did you mean {near}?", name=error.option_name, near=", ".join(near))
    return worded("there is no option {name}; `{command} -h` lists them", name=error.option_name, command=command)


def _no_command(name: str, near: str, command: str) -> str:
    if near:
        return worded("there is no command {name}; did you mean {near}?", name=name, near=near.replace("'", ""))
    return worded("there is no command {name}; `{command} -h` lists them", name=name, command=command)


def _bad_value(error: Any, message: str, given: Sequence[str]) -> str:
    inner = found[1] if (found := _VALUE.fullmatch(message)) else message
    name = _name(error)
    if found := _CHOICE.fullmatch(inner):
        value, there = found[1], found[2].replace("'", "")
        if "," in there:
            return worded("{name} must be one of {there}, got {value!r}", name=name, there=there, value=value)
        return worded("{name} must be {only}, got {value!r}", name=name, only=there, value=value)
    value = _typed(error.param, given)
    if found := _NUMBER.fullmatch(inner):
        if found[1] in ("float", "number"):
            return worded("{name} must be a number, got {value!r}", name=name, value=value)
        return worded("{name} must be a whole number, got {value!r}", name=name, value=value)
    if found := _RANGE.fullmatch(inner):
        return worded(
            "{name} must be from {first} to {last}, got {value}", name=name, first=found[1], last=found[2], value=value
        )
    if found := _MOST.fullmatch(inner):
        if found[1] == "less":
            return worded("{name} must be at most {most}, got {value}", name=name, most=found[2], value=value)
        return worded("{name} must be at least {least}, got {value}", name=name, least=found[2], value=value)
    return message


def _typed(parameter: Any, given: Sequence[str]) -> str:
    """What was typed for an option."""
    for place, one in enumerate(given):
        name, equals, value = one.partition("=")
        if parameter is not None and name in parameter.opts:
            return value if equals else "".join(given[place + 1 : place + 2])
    return "?"

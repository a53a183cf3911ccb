"""Names of what a reader may ask for next: options on the command line, arguments in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_options: ContextVar[bool] = ContextVar("on_command_line", default=False)
#: What Python calls the options that only the command line has.
_PYTHON = {"png": ".save_png(path)", "json": ".json()", "csv": ".to_csv()"}


@contextmanager
def on_command_line() -> Iterator[None]:
    """Name options of the command line within this context."""
    before = _options.set(True)
    try:
        yield
    finally:
        _options.reset(before)


def asks_for_options() -> bool:
    """Whether advice names options of the command line."""
    return _options.get()


def ask(name: str, value: object = True) -> str:
    """How to ask for something by its name: `special=True`; on the command line, `--special`.

    >>> ask("special"), ask("layer", 1), ask("json")
    ('special=True', 'layer=1', '.json()')
    >>> with on_command_line():
    ...     ask("special"), ask("layer", 1), ask("json")
    ('--special', '--layer 1', '--json')
    """
    if asks_for_options():
        return f"--{name}" if value is True else f"--{name} {value}"
    return _PYTHON.get(name) or f"{name}={value!r}"

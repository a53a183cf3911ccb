"""The operating system's messages in the current language: Python has them in English alone."""

from __future__ import annotations

from eyeline.words.translations import noted, reworded

#: The commonest.
MESSAGES = (
    noted("No such file or directory"),
    noted("Permission denied"),
    noted("Operation not permitted"),
    noted("Is a directory"),
    noted("Not a directory"),
    noted("File exists"),
    noted("File name too long"),
    noted("No space left on device"),
    noted("Read-only file system"),
    noted("Input/output error"),
    noted("Too many open files"),
    noted("Address already in use"),
)


def system_message(error: OSError) -> str:
    """What the operating system says of an error, or the error's own text.

    >>> system_message(FileNotFoundError(2, "No such file or directory", "text.txt"))
    'No such file or directory'
    """
    return reworded(error.strerror or str(error), MESSAGES)

"""Where Eyeline keeps what it made or fetched once: compiled kernels and models, each in a folder of its own; and
writing files so that others find them whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: What the names of unfinished files and folders begin with.
TEMPORARY = ".new-"


def cache_folder() -> Path:
    """`EYELINE_CACHE` if that is set, else the user's cache folder for programs."""
    if chosen := os.environ.get("EYELINE_CACHE"):
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    from platformdirs import user_cache_path

    return user_cache_path("eyeline", appauthor=False)


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A name beside `file` to write to, which becomes `file` when the block ends, and is gone if it ends by an error.

    So others find the file whole or not at all.

    Raises:
        OSError: if it can't be written; it names `file`.
    """
    beside = file.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
    try:
        yield beside
        os.replace(beside, file)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(beside):
            raise OSError(error.errno, error.strerror, str(file)) from None
        raise


def write_whole(file: Path, data: bytes) -> None:
    """Write a file whole or not at all, and its folder if that isn't there.

    Raises:
        OSError: if its folder can't be made or written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole(file) as beside:
        beside.write_bytes(data)

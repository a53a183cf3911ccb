"""The cache folder, for compiled kernels and fetched models, each in a subfolder; and atomic writing of files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The prefix of the names of unfinished files and folders.
TEMPORARY = ".new-"


def cache_folder() -> Path:
    """The folder in `EYELINE_CACHE` if that is set, else the user's cache folder of this platform."""
    if chosen := os.environ.get("EYELINE_CACHE"):
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    from platformdirs import user_cache_path

    return user_cache_path("eyeline", appauthor=False)


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A temporary path beside `file` to write to: renamed to `file` when the block ends, deleted if the block raises.

    Other processes therefore find the whole file or none.

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
    """Write a file atomically, and create its folder if it doesn't exist.

    Raises:
        OSError: if its folder can't be made or written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole(file) as beside:
        beside.write_bytes(data)

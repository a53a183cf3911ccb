"""Where Eyeline keeps what it made or fetched once: compiled kernels and models, each in a folder of its own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

#: What the names of unfinished files and folders begin with.
TEMPORARY = ".new-"


def cache_folder() -> Path:
    """`EYELINE_CACHE` if that is set, else the user's cache folder for programs."""
    if chosen := os.environ.get("EYELINE_CACHE"):
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    from platformdirs import user_cache_path

    return user_cache_path("eyeline", appauthor=False)


def write_whole(file: Path, data: bytes) -> None:
    """Write a file beside its place and rename it into it, so that others find it whole or not at all.

    Raises:
        OSError: if its folder can't be made or written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

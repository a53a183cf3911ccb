"""Where Eyeline keeps what it made or fetched once: compiled kernels and models, each in a folder of its own."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`EYELINE_CACHE` if that is set, else the user's cache folder for programs."""
    if chosen := os.environ.get("EYELINE_CACHE"):
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    from platformdirs import user_cache_path

    return user_cache_path("eyeline", appauthor=False)

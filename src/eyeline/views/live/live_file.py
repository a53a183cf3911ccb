"""`save_live`: the live page as one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eyeline.caches import whole
from eyeline.models import Model
from eyeline.views.live.live_page import live_page


def save_live(
    path: str | os.PathLike[str],
    model: str | os.PathLike[str] | Model = "minilm",
    weights: str | None = None,
    *,
    state: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> int:
    """Write a live page to one file, which holds the model and needs no network and no server. The file is written
    completely or not at all.

    Args:
        path: the file's path.
        model, weights, state, progress: as for `live_page`.

    Returns:
        The bytes of the file.

    Raises:
        ModelError: if the page can't run the model, or its files are missing or damaged; a ValueError.
        OSError: if the file can't be written.
    """
    data = live_page(model, weights, state=state, progress=progress).document()
    with whole(Path(path)) as beside:
        beside.write_bytes(data)
    return len(data)

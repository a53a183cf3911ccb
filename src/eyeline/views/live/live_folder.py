"""`save_live_folder`: the live page as a folder for any static host."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eyeline.caches import whole
from eyeline.models import Model
from eyeline.views.live.live_page import live_page


def save_live_folder(
    folder: str | os.PathLike[str],
    model: str | os.PathLike[str] | Model = "minilm",
    weights: str | None = None,
    *,
    state: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Path, Path]:
    """Write a live page to a folder: `index.html`, and the weights in a file with their hash in its name, so that a
    browser may keep it for ever. Each is written completely or not at all, the weights first.

    Args:
        folder: the folder's path; it is made if it doesn't exist. Other files in it stay.
        model, weights, state, progress: as for `live_page`.

    Returns:
        The paths of both files.

    Raises:
        ModelError: if the page can't run the model, or its files are missing or damaged; a ValueError.
        OSError: if the folder can't be made or written.
    """
    made = live_page(model, weights, state=state, progress=progress)
    data = b"".join(piece for _, piece in made.pieces())
    folder = Path(folder)
    new = not folder.exists()
    folder.mkdir(exist_ok=True)
    file = folder / f"weights-{hashlib.sha256(data).hexdigest()[:16]}.bin"
    index = folder / "index.html"
    try:
        document = made.document(source={"file": file.name, "size": len(data)})
        for path, content in ((file, data), (index, document)):
            with whole(path) as beside:
                beside.write_bytes(content)
    except BaseException:
        if new:
            file.unlink(missing_ok=True)
            folder.rmdir()
        raise
    return index, file

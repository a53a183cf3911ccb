"""The house rules that a machine can hold: one name for one thing, short files, lazy imports, one version."""

from __future__ import annotations

import ast
import re
import subprocess
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest

import eyeline as el
from eyeline.readouts import Readout
from eyeline.version import VERSION

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "eyeline"
MODULES = sorted(PACKAGE.rglob("*.py"))
#: How many lines a file may have; tests, which are read one by one, may have more.
MOST, MOST_OF_TESTS = 300, 500
#: Files that may be longer, and why.
LONG = {
    "docs/extending.md": "builds six things in one go, and runs from top to bottom",
    "docs/guide/errors.md": "an entry for each error",
    "docs/json.md": "a reference of every field",
}
#: Of optional dependencies, where they may load with a module: in the rooms that nothing loads without them.
OPTIONAL = {
    "torch": ("torch", "huggingface"),
    "transformers": ("huggingface",),
    "pandas": (),
    "pyarrow": (),
    "ray": (),
    "matplotlib": (),
    "anywidget": ("views/page/widget.py",),
    "traitlets": ("views/page/widget.py",),
    "IPython": (),
}


def named(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_no_class_name_stands_twice():
    found = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(named(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_module_has_a_name_that_says_nothing():
    assert not {"utils", "util", "common", "base", "helpers", "core", "misc"} & {path.stem for path in MODULES}
    assert not {path.name for path in PACKAGE.rglob("*") if path.is_dir()} & {"utils", "common", "base", "core"}


def test_files_are_short():
    """No file is longer than it may be, but those in `LONG`; none is listed in vain."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("this is no checkout")
    written = (".py", ".js", ".css", ".md", ".yml", ".toml")
    names = [name for name in tracked.stdout.split("\0") if name.endswith(written) and (ROOT / name).exists()]
    lines = {name: len((ROOT / name).read_text().splitlines()) for name in names}
    assert [
        f"{name}: {count} lines"
        for name, count in lines.items()
        if count > (MOST_OF_TESTS if name.startswith("tests/") else MOST) and name not in LONG
    ] == []
    assert all(lines[name] > MOST for name in LONG)


def loaded_with(tree: ast.AST) -> set[str]:
    """The top-level packages that a module imports when it loads: not within functions, nor for types alone."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.name.partition(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=other):
                found |= loaded_with(ast.Module(other, []))
            case _:
                found |= loaded_with(node)
    return found


def test_optional_dependencies_load_inside_functions():
    assert [
        f"{named(path)} imports {name} when it loads"
        for path in MODULES
        for name in loaded_with(ast.parse(path.read_text())) & set(OPTIONAL)
        if not named(path).startswith(OPTIONAL[name])
    ] == []


def test_kernels_know_no_readout_by_name():
    """They know what readouts are lowered to: a sum over a row with a coefficient, a selection, bins."""
    kinds = [kind for kind in vars(el).values() if isinstance(kind, type) and issubclass(kind, Readout)]
    names = {kind.__name__ for kind in kinds} | {kind.name for kind in kinds} - {"weights"}
    assert {"TopK", "group_mass"} < names
    for path in (PACKAGE / "kernels").rglob("*.py"):
        with path.open("rb") as file:
            words = {token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.NAME}
        assert not words & names, named(path)


def test_every_room_says_what_it_is_for():
    """A package's `__init__` opens with its duty."""
    rooms = [path for path in MODULES if path.name == "__init__.py"]
    assert not [named(path) for path in rooms if not ast.get_docstring(ast.parse(path.read_text()))]


def test_the_version_is_one():
    assert el.__version__ == VERSION
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [VERSION]
    newest = re.search(r"^## (\S+?)(,|$)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == VERSION


def test_the_package_tells_type_checkers_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()

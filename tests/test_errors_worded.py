"""Every error is in the reader's language: each text of a `raise` goes through `worded`, and what comes is Vietnamese."""

from __future__ import annotations

import ast
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import eyeline as el
from eyeline import words
from eyeline.edits import written
from eyeline.traces import load_trace, record

SOURCE = Path(el.__file__).parent
#: Only a bug of ours or of another library reaches these, or Python's own protocols do; they are plain English.
PLAIN = {
    "AttributeError",  # of a module or of a tensor's stand-in, as Python words it
    "KeyError",  # turned into an error of ours where it is caught
    "NotImplementedError",  # of a base class; torch turns it into its own error
    "DamagedFileError",  # a library's text, caught in the survey's corpus
    "UnreadError",  # a detail in a survey's files, which have it in English
    "UnreadableError",  # caught: the mask is then taken as it is
}
#: Their texts are for whoever builds Eyeline, or are the catalogue's own.
BUILDERS = ("kernels/compiled", "kernels/wasm/__main__.py", "words/po_file.py")
#: A phrase that an error has: it isn't in a text of the package but within `worded` or `noted`.
TELLING = re.compile(r" must (?!have$)| got |, got|can't | isn't |doesn't |; (give|take|leave|run|add|pass) ")
FLIES = "time flies like an arrow"


def parsed():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(BUILDERS):
            yield name, ast.parse(path.read_text("utf-8"))


def called(node):
    function = node.func
    return getattr(function, "id", None) or getattr(function, "attr", "")


def plain_texts(node):
    """The English phrases in an expression, but for those within `worded` and `noted`."""
    if isinstance(node, ast.Call) and called(node) in ("worded", "noted"):
        for keyword in node.keywords:
            yield from plain_texts(keyword.value)
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[A-Za-z]{2,}[,;:]? \S", node.value):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from plain_texts(child)


def raised():
    """Each text that is raised or warned of: where, the exception, its arguments."""
    for name, tree in parsed():
        for node in ast.walk(tree):
            call = node.exc if isinstance(node, ast.Raise) else node
            if not isinstance(call, ast.Call):
                continue
            if isinstance(node, ast.Raise) or (called(call) == "warn" and "warnings" in ast.unparse(call.func)):
                yield f"{name}:{node.lineno}", called(call), call.args


def test_every_text_that_is_raised_is_worded():
    found = list(raised())
    assert len(found) > 600
    left = [(where, text) for where, kind, args in found for one in args for text in plain_texts(one)
            if kind not in PLAIN]  # fmt: skip
    assert left == [], "\n".join(map(str, left))


def test_no_text_of_an_error_is_put_together_elsewhere():
    left = []
    for name, tree in parsed():
        ignored = set()
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr)):
                first = node if isinstance(node, ast.Expr) else node.body[0] if node.body else None
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    ignored.add(first.value)  # a docstring
            elif isinstance(node, ast.Call) and called(node) in ("worded", "noted", "Option", "Argument", *PLAIN):
                ignored |= {one for one in ast.walk(node) if isinstance(one, ast.Constant)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in ignored:
                if TELLING.search(node.value):
                    left.append((f"{name}:{node.lineno}", node.value))
    assert left == [], "\n".join(map(str, left))

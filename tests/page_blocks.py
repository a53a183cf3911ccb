"""The fenced blocks of a page in Markdown, run from top to bottom: what they print is what the page says.

- `python`: runs; with `>>>` as a doctest, otherwise what it prints is in the `text` block that follows.
- `console`: lines with `$ ` are commands, and below each is what it prints. `sh`: commands that print nothing there,
  or what the `text` block that follows has.
- `json` must be JSON. Directives such as {live} belong to Sphinx. Other blocks are data.

… stands for anything, spaces and line ends don't count. A block after `<!-- not run: REASON -->` is left alone.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from markdown_it import MarkdownIt

from eyeline.cli import main

_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->", re.DOTALL)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUN = ("python", "console", "sh")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, what is in it, the line that it begins at, and why it isn't run, if so."""

    language: str
    content: str
    line: int
    not_run: str | None = None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order; those of Sphinx's directives are left out."""
    found, reason = [], None
    for token in MarkdownIt().parse(page):
        if token.type == "html_block" and (noted := _NOT_RUN.search(token.content)):
            reason = " ".join(noted[1].split())
        elif token.type == "fence":
            assert token.map is not None
            words = token.info.split()
            if not token.info.startswith("{"):
                found.append(Block(words[0] if words else "", token.content, token.map[0] + 1, reason))
            reason = None
        elif token.nesting == 0 and token.type == "inline":
            reason = None
    return found


def run(page: Path) -> None:
    """Run the blocks of a page, in the current folder.

    Raises:
        AssertionError: if one fails, or prints something else than the page says; with the page, the line and both.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    there = blocks(page.read_text("utf-8"))
    for place, block in enumerate(there):
        after = there[place + 1] if place + 1 < len(there) else None
        said = after.content if after is not None and after.language == "text" else None
        where = f"{page.name}:{block.line}"
        if block.not_run is not None:
            continue
        if block.language == "json":
            json.loads(block.content)
        elif block.language == "python" and ">>>" in block.content:
            _doctest(block, names, where)
        elif block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block.content, where, "exec", dont_inherit=True), names)
            _compare(where, said or "", printed.getvalue())
        elif block.language == "console":
            for command, output in _commands(block.content):
                _compare(f"{where}, {command}", output, _run(command)[1])
        elif block.language == "sh":
            printed_lines = []
            for command in _joined(block.content):
                code, out = _run(command)
                assert code == 0, f"{where}, {command}: exit code {code}\n{out}"
                printed_lines.append(out)
            _compare(where, said, "".join(printed_lines))


def same(said: str, printed: str) -> bool:
    """Whether a page's text is what was printed, … standing for anything.

    >>> same("a … c", "a  b\\nc"), same("a c", "a b c")
    (True, False)
    """
    wanted = re.escape(" ".join(said.split())).replace("…", ".*").replace("\\ .*", ".*").replace(".*\\ ", ".*")
    return re.fullmatch(wanted, " ".join(printed.split()), re.DOTALL) is not None


def _compare(where: str, said: str | None, printed: str) -> None:
    if said is not None:
        assert same(said, printed), f"{where}: the page says\n{said}\nand it prints\n{printed}"


def _doctest(block: Block, names: dict[str, object], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.content.replace("…", "..."), names, where, where, block.line)
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    runner.run(test, out=told.write, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, told.getvalue()


def _joined(text: str) -> list[str]:
    """The commands of a block of shell: a loop over several lines is one."""
    if re.search(r"^\s*(for|while|if) ", text, re.MULTILINE):
        return [text]
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console, and what is below it."""
    command, output = "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:].strip(), ""
        elif command.endswith("\\") and not output:
            command = command[:-1] + line.strip()
        else:
            output += line
    yield command, output


def _run(command: str) -> tuple[int, str]:
    """Run a command, `eyeline` in this process, others in a shell. Returns the exit code, and all it prints."""
    plain = not re.search(r"[|<>;&]|\$", re.sub(r"\"[^\"]*\"|'[^']*'", "", command))
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = []
    if plain and words[:1] == ["eyeline"]:
        return _of_eyeline(words[1:])
    environment = os.environ | {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}
    done = subprocess.run(command, shell=True, text=True, env=environment, stdout=-1, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def _of_eyeline(arguments: list[str]) -> tuple[int, str]:
    printed = io.StringIO()
    served, opened = mock.patch("eyeline.serving.serve"), mock.patch("eyeline.cli.browser._open")
    # What `bench growth` keeps for later pages would be in those of other tests.
    kept = mock.patch("eyeline.views.kept_growth.path", return_value=Path("growth.json").absolute())
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), served, opened, kept:
        code = main(arguments)  # a page is made, and not waited for
    return code, printed.getvalue()

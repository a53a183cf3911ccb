"""The table of families in docs/hugging-face.md: made, and held against the families that are listed."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from .cases import CASES
from .listed import FAMILIES
from .tiny_models import Family

PAGE = Path(__file__).parents[2] / "docs" / "hugging-face.md"
BEGIN, END = "<!-- families: made by python -m tests.families -->\n", "<!-- /families -->\n"


def head(family: Family) -> str:
    """What a row says before its numbers."""
    return f"| {family.name} | {family.features} | {', '.join(family.cases())} |"


def row(family: Family) -> str:
    found = {case: CASES[case](family) for case in family.cases()}
    half = found.pop("bfloat16")
    worst = max(found, key=found.__getitem__)
    print(family.name, {case: f"{value:.1e}" for case, value in found.items()}, f"{half:.2f}", file=sys.stderr)
    return f"{head(family)} {found[worst]:.1e} ({worst}) | {half:.2f} × |"


def table() -> str:
    versions = ", ".join(f"{name} {version(name).split('+')[0]}" for name in ("transformers", "torch"))
    lines = [
        f"On the CPU, with {versions}.",
        "",
        "| family | what its attention has | what was run | largest difference | bfloat16 |",
        "| --- | --- | --- | --- | --- |",
        *map(row, FAMILIES),
    ]
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{PAGE} must hold the lines {BEGIN.strip()} and {END.strip()}", file=sys.stderr)
        return 1
    if arguments == ["--check"]:
        if stale(old):
            print(f"the table in {PAGE} is stale; python -m tests.families makes it anew", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(before + begin + table() + end + after)
    return 0


def stale(old: str) -> bool:
    """Whether a table's rows aren't those of the families here."""
    rows = [line for line in old.splitlines() if line.startswith("| ")][2:]
    return len(rows) != len(FAMILIES) or not all(map(str.startswith, rows, map(head, FAMILIES)))

"""The guide's translations: texts of the pages, and what docs/locale/ has of them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polib

from docs.building import DOCS, BuildError, languages, sphinx


def _extracted(folder: Path) -> dict[str, polib.POFile]:
    """The texts of every page, by the page's name, as Sphinx extracts them."""
    sphinx("gettext", folder / "texts", "en")
    found = sorted((folder / "texts").rglob("*.pot"))
    return {
        str(path.relative_to(folder / "texts").with_suffix("")): polib.pofile(str(path), wrapwidth=120)
        for path in found
    }


def _file(language: str, page: str) -> Path:
    return DOCS / "locale" / language / "LC_MESSAGES" / f"{page}.po"


def _merged(language: str, page: str, texts: polib.POFile) -> polib.POFile:
    """The page's translations, with its texts as they are now: changed and gone ones are dropped."""
    path = _file(language, page)
    merged = polib.pofile(str(path), wrapwidth=120) if path.exists() else polib.POFile(wrapwidth=120)
    merged.metadata = {
        "Project-Id-Version": "eyeline",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    merged.header = f"The guide's page {page}."
    merged.merge(texts)
    for entry in merged:
        entry.occurrences, entry.comment, entry.tcomment = [], "", entry.tcomment
    for gone in merged.obsolete_entries():
        merged.remove(gone)
    return merged


def _pages(folder: Path) -> Iterator[tuple[str, str, polib.POFile]]:
    """Every language but English with every page: its texts merged with what is translated."""
    texts = _extracted(folder)
    for language in languages()[1:]:
        for page, found in texts.items():
            yield language, page, _merged(language, page, found)


def update() -> int:
    """Write docs/locale/ anew: what is translated stays, what has changed is there without a translation."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = set()
        for language, page, merged in _pages(Path(folder)):
            path = _file(language, page)
            path.parent.mkdir(parents=True, exist_ok=True)
            merged.save(str(path))
            wanted.add(path)
    for path in (DOCS / "locale").rglob("*.po"):
        if path not in wanted:
            path.unlink()
    return _told()


def _told() -> int:
    missing = 0
    for language in languages()[1:]:
        for path in sorted((DOCS / "locale" / language).rglob("*.po")):
            file = polib.pofile(str(path))
            left = [one for one in file if not one.obsolete and (not one.translated() or one.fuzzy)]
            missing += len(left)
            if left:
                page = path.relative_to(DOCS / "locale" / language / "LC_MESSAGES").with_suffix("")
                print(f"{language} {page}: {len(left)} of {len(file)} texts to translate", file=sys.stderr)
    return missing


def check() -> int:
    """Count the texts that aren't translated, without writing anything. Returns the exit code."""
    missing = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for language, page, merged in _pages(Path(folder)):
            left = [one for one in merged if not one.translated()]
            path = _file(language, page)
            stale = path.exists() and {one.msgid for one in polib.pofile(str(path))} - {one.msgid for one in merged}
            total += len(merged)
            missing += len(left) + len(stale or ())
            for one in left:
                print(f"{language} {page}: not translated: {' '.join(one.msgid.split())[:90]}", file=sys.stderr)
            for text in stale or ():
                print(f"{language} {page}: no longer in the page: {' '.join(text.split())[:90]}", file=sys.stderr)
    print(f"docs: {total - missing} of {total} texts are translated", file=sys.stderr)
    if missing:
        raise BuildError(f"{missing} texts are to be translated: python -m docs --update, then fill docs/locale/")
    return 0

"""The guide's translations: texts of the pages, and what docs/locale/ has of them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

import polib

from docs.building import DOCS, BuildError, languages, sphinx
from docs.site_words import all_words

#: What is the same in every language: code, and texts in which nothing but numbers, signs and units is left beside it.
_CODE = re.compile(r"`[^`]*`")
_WORD = re.compile(r"[^\W\d_]{3,}")
#: How alike a text is to the one that it was before a change, from 0 to 1.
_ALIKE = 0.7


def is_prose(text: str) -> bool:
    """Whether a text is to be translated.

    >>> is_prose("`--json`"), is_prose("1.5 ms"), is_prose("`mask`: where a query may look")
    (False, False, True)
    """
    return _WORD.search(_CODE.sub("", text)) is not None


def _extracted(folder: Path) -> dict[str, polib.POFile]:
    """The texts of every page, by the page's name, as Sphinx extracts them."""
    sphinx("gettext", folder / "texts", "en")
    texts = {
        str(path.relative_to(folder / "texts").with_suffix("")): polib.pofile(str(path), wrapwidth=120)
        for path in sorted((folder / "texts").rglob("*.pot"))
    }
    for page in texts.values():
        for entry in [entry for entry in page if not is_prose(entry.msgid)]:
            page.remove(entry)
    texts["sphinx"] = polib.POFile(wrapwidth=120)
    for word in all_words():
        texts["sphinx"].append(polib.POEntry(msgid=word))
    return texts


def _file(language: str, page: str) -> Path:
    return DOCS / "locale" / language / "LC_MESSAGES" / f"{page}.po"


def _merged(language: str, page: str, texts: polib.POFile) -> polib.POFile:
    """The page's translations, with its texts as they are now: one that changed a little keeps its translation, marked
    fuzzy; gone ones are dropped."""
    path = _file(language, page)
    merged = polib.pofile(str(path), wrapwidth=120) if path.exists() else polib.POFile(wrapwidth=120)
    merged.metadata = {
        "Project-Id-Version": "eyeline",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    merged.header = "The site's own words beside the pages." if page == "sphinx" else f"The guide's page {page}."
    merged.merge(texts)
    for entry in merged:
        entry.occurrences, entry.comment, entry.tcomment = [], "", entry.tcomment
    gone = {entry.msgid: entry for entry in merged.obsolete_entries()}
    for entry in merged:
        if not entry.obsolete and not entry.msgstr and (near := get_close_matches(entry.msgid, gone, 1, _ALIKE)):
            entry.msgstr, entry.flags = gone[near[0]].msgstr, ["fuzzy"]
    for entry in gone.values():
        merged.remove(entry)
    order = {entry.msgid: place for place, entry in enumerate(texts)}
    merged.sort(key=lambda entry: order[entry.msgid])
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
    return 0


def check() -> int:
    """Count the texts that aren't translated, without writing anything. Returns the exit code.

    Raises:
        BuildError: if there are any, or translations of texts that are gone.
    """
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        for language, page, merged in _pages(Path(folder)):
            path = _file(language, page)
            there = polib.pofile(str(path)) if path.exists() else []
            fuzzy = sum(entry.fuzzy for entry in merged)
            missing = sum(not entry.translated() for entry in merged) - fuzzy
            gone = len({entry.msgid for entry in there} - {entry.msgid for entry in merged})
            counts.append((f"{language} {page}", len(merged), missing, fuzzy, gone))
    wrong = [row for row in counts if any(row[2:])]
    for row in [("page", "texts", "untranslated", "fuzzy", "gone"), *wrong] if wrong else []:
        print(f"{row[0]:36}" + "".join(f"{cell:>14}" for cell in row[1:]))
    total, left = sum(row[1] for row in counts), sum(sum(row[2:4]) for row in wrong)
    print(f"docs: {total - left} of {total} texts are translated")
    if wrong:
        raise BuildError(f"{len(wrong)} pages aren't translated: python -m docs --update, then fill docs/locale/")
    return 0

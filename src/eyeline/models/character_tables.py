"""Tables of all characters: of what kind each is in a word, and what a BERT tokenizer does with each.

A browser's Unicode has another version than the tokenizers library's, and than Python's. So a page that tokenizes by
itself gets what these two answer for every character, and asks nothing of its browser.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from eyeline.models.tokens import kinds

#: Every character, without the surrogates, which are in no text.
_ALL = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
#: What stands between two characters that a normalizer is asked about: it changes neither this nor, for it, another.
_BETWEEN = "|"
#: A mark of the highest combining class: it comes after any other mark of a letter.
_LAST_MARK = "\u0345"
#: Syllables of Hangul are decomposed by a formula, so that they aren't in a table.
_HANGUL = range(0xAC00, 0xD7A4)


def word_kinds() -> dict[str, Any]:
    """The kind of each code point, as `tokens.split` sees it: runs in order, of the kinds `letters`, `lengths` long.

    >>> table = word_kinds()
    >>> table["letters"][:4], table["lengths"][:4], sum(table["lengths"])
    ('sp.p', [33, 6, 1, 4], 1114112)
    """
    found = kinds("".join(map(chr, range(sys.maxunicode + 1))))
    begins = [place for place in range(len(found)) if not place or found[place] != found[place - 1]]
    ends = [*begins[1:], len(found)]
    lengths = [end - begin for begin, end in zip(begins, ends, strict=True)]
    return {"letters": "".join(found[begin] for begin in begins), "lengths": lengths}


def bert_characters(*, clean: bool, ideographs: bool, strip: bool, lowercase: bool) -> dict[str, Any]:
    """What BERT's normalizer and its pre-tokenizer do with each character, as the tokenizers library answers.

    Args:
        clean: whether the normalizer removes control characters, and makes all white space spaces.
        ideographs: whether it puts spaces around ideographs.
        strip: whether it decomposes characters and removes their marks.
        lowercase: whether it makes letters small.

    Returns:
        Of each of these the characters that it happens to, as runs `[code points before, code points in it, …]`:
        `removed`; `blank`, made a space; `apart`, put between spaces; `marks`, removed after decomposition; `between`,
        white space at which words end; `punctuation`, a word of its own. `classes`, runs of three numbers, the third
        the combining class. `decomposed` (without Hangul) and `lower`: what characters are replaced by, `texts`, one a
        line, for characters that lie `steps` code points apart.
    """
    from tokenizers.normalizers import NFD, BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    def answers(on: bool, normalize: Callable[[str], str]) -> Sequence[str]:
        if not on:
            return _ALL
        found = normalize(_BETWEEN.join("" if one == _BETWEEN else one for one in _ALL)).split(_BETWEEN)
        found[ord(_BETWEEN)] = _BETWEEN
        return found

    def where(found: Iterable[bool]) -> list[int]:
        return _runs([ord(one) for one, true in zip(_ALL, found, strict=True) if true])

    cleaned = answers(clean, BertNormalizer(True, False, False, False).normalize_str)
    spaced = answers(ideographs, BertNormalizer(False, True, False, False).normalize_str)
    decomposed = answers(strip, NFD().normalize_str)
    stripped = answers(strip, BertNormalizer(False, False, True, False).normalize_str)
    lowered = answers(lowercase, BertNormalizer(False, False, False, True).normalize_str)
    # Each character stands between two letters, at an odd place: what doesn't part them is in a piece of three or more.
    pieces = BertPreTokenizer().pre_tokenize_str("a" + "a".join(_ALL) + "a")
    alone = {first for _, (first, last) in pieces if first % 2 and last == first + 1}
    joined = {place for _, (first, last) in pieces for place in range(first | 1, last, 2)}
    return {
        "removed": where(not made for made in cleaned),
        "blank": where(made == " " != one for one, made in zip(_ALL, cleaned, strict=True)),
        "apart": where(made != one for one, made in zip(_ALL, spaced, strict=True)),
        "marks": where(not made for made in stripped),
        "between": where(2 * place + 1 not in joined for place in range(len(_ALL))),
        "punctuation": where(2 * place + 1 in alone for place in range(len(_ALL))),
        "classes": _classes(NFD().normalize_str) if strip else [],
        "decomposed": _replaced(decomposed),
        "lower": _replaced(lowered),
    }


def _runs(codes: Sequence[int]) -> list[int]:
    """Rising numbers as runs: how many lie before a run, since the last, and how many are in it.

    >>> _runs([3, 4, 5, 9])
    [3, 3, 3, 1]
    """
    found: list[int] = []
    after = 0
    for code in codes:
        if found and code == after:
            found[-1] += 1
        else:
            found += [code - after, 1]
        after = code + 1
    return found


def _classes(decompose: Callable[[str], str]) -> list[int]:
    """Of characters that the library puts in order, runs of one combining class: those before, those in it, the class.

    The library's Unicode is older than Python's; a mark that it doesn't know stays where it is.
    """
    found: list[int] = []
    after = 0
    for one in _ALL:
        kind = unicodedata.combining(one)
        known = kind and (one == _LAST_MARK or decompose(f"a{_LAST_MARK}{one}") == f"a{one}{_LAST_MARK}")
        if not known:
            continue
        if found and ord(one) == after and kind == found[-1]:
            found[-2] += 1
        else:
            found += [ord(one) - after, 1, kind]
        after = ord(one) + 1
    return found


def _replaced(made: Sequence[str]) -> dict[str, Any]:
    """The characters that aren't their own replacements: code points since the last one, and what replaces each."""
    codes = [ord(one) for one, by in zip(_ALL, made, strict=True) if by != one and ord(one) not in _HANGUL]
    texts = [by for one, by in zip(_ALL, made, strict=True) if by != one and ord(one) not in _HANGUL]
    steps = [code - before for before, code in zip([0, *codes], codes, strict=False)]
    return {"steps": steps, "texts": "\n".join(texts)}

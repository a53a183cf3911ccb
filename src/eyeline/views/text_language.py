"""The language of a text, as far as its letters say it: enough to tell a reader that a model doesn't know it."""

from __future__ import annotations

import re
import unicodedata

from eyeline.words import worded

# Letters that Vietnamese alone has: a vowel with two marks, a hook, or a horn. Others (ă, â, đ, ê, ô, ạ) are shared.
_OWN = re.compile(r"[ơưấầẩẫậắằẳẵặếềểễệốồổỗộớờởỡợứừửữựảẻỉỏủỷ]")
_SHARED = re.compile(r"[ăâđêôơưàáãèéìíòóõùúýĩũ\u1ea0-\u1ef9]")
_PAIR = re.compile(r"đ"), re.compile(r"[âêô\u1ea0-\u1ef9]")
#: Scripts of one language, the first that has a letter in the text: Japanese has Chinese characters too.
_SCRIPTS = {
    "japanese": re.compile(r"[\u3041-\u30ff]"),
    "korean": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "chinese": re.compile(r"[\u3400-\u9fff]"),
    "thai": re.compile(r"[\u0e01-\u0e4e]"),
}
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
#: The least share of a Vietnamese text's words that have a letter which English hasn't, and of letters outside Latin.
_WORDS, _LETTERS = 0.4, 0.5


def text_language(text: str) -> str | None:
    """The language of a text whose letters tell it: "vietnamese", "japanese", "korean", "chinese", "thai", or
    "another" in other scripts; None in Latin letters otherwise, English among them.

    >>> text_language("Con ruồi đậu mâm xôi đậu."), text_language("un café noir"), text_language("I ate phở there")
    ('vietnamese', None, None)
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    letters = [letter for letter in plain if letter.isalpha()]
    foreign = [letter for letter in letters if not _LATIN.match(letter)]
    if letters and len(foreign) >= _LETTERS * len(letters):
        joined = "".join(foreign)
        return next((name for name, script in _SCRIPTS.items() if script.search(joined)), "another")
    words = [word for word in re.split(r"[^\w]+", plain) if any(map(str.isalpha, word))]
    marked = sum(_SHARED.search(word) is not None for word in words)
    own = _OWN.search(plain) or all(part.search(plain) for part in _PAIR)
    return "vietnamese" if own and marked >= _WORDS * len(words) else None


def english_alone(language: str, model: str) -> str:
    """The line for a text in a language that a model, trained on English alone, doesn't know."""
    if language == "another":
        return worded(
            "This text isn't in English, on which alone {model} was trained; the model e5 reads some 100 languages.",
            model=model,
        )
    names = {
        "vietnamese": worded("Vietnamese"),
        "japanese": worded("Japanese"),
        "korean": worded("Korean"),
        "chinese": worded("Chinese"),
        "thai": worded("Thai"),
    }
    return worded(
        "This text is in {language}, and {model} was trained on English alone; the model e5 reads {language}.",
        language=names[language],
        model=model,
    )

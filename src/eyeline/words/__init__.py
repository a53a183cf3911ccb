"""The catalogue of words: every text of the terminal, of errors and of the page, in each language.

English texts are in the code, where they are used: `worded("{count} more")`. Each other language is one gettext file,
`CODE/LC_MESSAGES/eyeline.po`, which is read directly, without compiling. The page's texts have a context, `page.KEY`,
and are in these files in both languages; the page's table is made from them. A new language is a new file.

This room imports only the standard library, and every other may import it.
"""

from __future__ import annotations

from eyeline.words.language import VARIABLE, choose, chosen, known, language, languages
from eyeline.words.numbers import local_number
from eyeline.words.system_errors import system_message
from eyeline.words.translations import noted, own_names, page_table, page_text, reworded, translation, worded

__all__ = [
    "VARIABLE",
    "choose",
    "chosen",
    "known",
    "language",
    "languages",
    "local_number",
    "noted",
    "own_names",
    "page_table",
    "page_text",
    "reworded",
    "system_message",
    "translation",
    "worded",
]

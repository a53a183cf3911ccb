"""The catalogue of words: every text of the terminal, of errors and of the page, in each language.

English texts stand in the code, where they are used: `worded("{count} more")`. Each other language is one gettext file,
`CODE/LC_MESSAGES/eyeline.po`, which is read as it is, so nothing has to be compiled. The page's texts have a context,
`page.KEY`, and stand in the files in both languages, from which the page's table is made. A new language is a new file.

This room imports the standard library alone, and every other may import it.
"""

from __future__ import annotations

from eyeline.words.language import VARIABLE, choose, chosen, known, language, languages
from eyeline.words.translations import own_names, page_table, worded

__all__ = ["VARIABLE", "choose", "chosen", "known", "language", "languages", "own_names", "page_table", "worded"]

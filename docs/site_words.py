"""The site's own words beside the pages: of the theme, of the frames. They are translated in docs/locale/*/sphinx.po.

Sphinx looks into that file before its own translations, so that the theme's words come from there too.
"""

from __future__ import annotations

from docs.live_pages import LIVE_PAGES

#: Around a live page.
OPEN = "Open it on its own page"
ANSWER = "Answer it in the lesson"
LOAD = "Load it here: {title} ({megabytes} MB)"
#: The theme's buttons, which guide.js names: its templates have them in English only.
BUTTONS = {
    ".theme-toggle": "Light, dark, or as the system is",
    "label[for=__navigation], #__navigation": "Contents of the guide",
    "label[for=__toc], #__toc": "On this page",
}
#: Of furo's templates and Sphinx's own, which have no Vietnamese for them.
THEME = (
    "Back to top",
    "Home",
    "Index",
    "Language",
    "Link to this definition",
    "Link to this heading",
    "Made with ",
    "Next",
    "On this page",
    "Previous",
    "Raises",
    "Search",
    "Skip to content",
)
#: Of the page of search results.
SEARCH = (
    ", in ",
    "Hide Search Matches",
    "Preparing search...",
    "Search Results",
    "Searching",
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've "
    "selected enough categories.",
)
#: Of one page, and of several.
FOUND = (
    "Search finished, found one page matching the search query.",
    "Search finished, found ${resultCount} pages matching the search query.",
)


def all_words() -> list[str]:
    """Every text, each once."""
    own = [OPEN, ANSWER, LOAD, *BUTTONS.values(), *THEME, *SEARCH, *FOUND]
    return sorted({*own, *(page.title for page in LIVE_PAGES.values())})

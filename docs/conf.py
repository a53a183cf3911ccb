"""Sphinx's settings for the guide. `python -m docs` calls Sphinx with them, once for each language."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from eyeline.version import VERSION  # noqa: E402

project = "Eyeline"
copyright = "the authors of Eyeline, Apache-2.0"
author = "the authors of Eyeline"
release = version = VERSION

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docs.extensions.docstrings",
    "docs.extensions.formulas",
    "docs.extensions.lesson",
    "docs.extensions.live",
    "docs.extensions.outside",
    "docs.extensions.words",
]
exclude_patterns = ["surveys/**", "locale/**", "extensions/**", "templates/**"]
templates_path = ["templates"]

# Markdown. Headings get anchors as on GitHub, whose links then work here.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
# Docstrings: single backticks are code.
default_role = "literal"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature has none, the docstring says shapes and types in words
autodoc_preserve_defaults = True

# Translations: one file for each page.
locale_dirs = ["locale"]
gettext_compact = False
gettext_location = False
gettext_uuid = False
gettext_last_translator = ""
gettext_language_team = ""
language = "en"

html_theme = "furo"
html_title = "Eyeline"
html_static_path = ["static"]
html_css_files = ["guide.css"]
html_js_files = ["guide.js"]
html_theme_options = {"top_of_page_buttons": ["view"]}  # a template of ours: the other languages
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False
html_show_search_summary = False  # it fetches the pages found, which a browser refuses to a file
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "native"
nitpicky = False
suppress_warnings = ["misc.highlighting_failure"]

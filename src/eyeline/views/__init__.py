"""Views: answers in a terminal, a notebook, figures and CSV; and the page, for a browser.

A view is a function of an answer (`eyeline.answers`) and, for some media, an `Ink` or a path. There is one file for
each kind of answer and each medium: `explanation_terminal`, `explanation_html`, `explanation_figure`. The sentences on
a picture's findings are in `*findings`, shared by all media. `attach` sets the view of each kind of answer. rich and
matplotlib load inside functions. `page`, a room of its own, shows traces. New texts go through `eyeline.words`. This
room imports the answers and the rooms below them, and never torch.
"""

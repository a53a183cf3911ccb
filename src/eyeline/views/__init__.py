"""Seeing it: answers in a terminal, a notebook, figures and CSV; and the page, for a browser.

A view takes an answer (`eyeline.answers`) and an `Ink`, a path, or nothing more, and is a file for each kind of answer
and each medium: `explanation_terminal`, `explanation_html`, `explanation_figure`. Sentences that say what a picture
shows are `*findings`, shared by all media. `attach` tells answers which view draws them. rich and matplotlib load
inside functions. `page`, a room of its own, shows traces. New texts go through `eyeline.words`. This room imports the
answers and the rooms below them, and never torch.
"""

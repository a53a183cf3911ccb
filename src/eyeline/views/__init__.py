"""Seeing it: drawings for the terminal, the notebook and a figure; and the page, for a browser.

Drawings take plain data (the documents of `document.py`, which are also what `--json` prints, so that no number can be
shown that isn't in it) and know nothing of models; rich and matplotlib load inside functions, and they import the
standard library alone. `page`, a room of its own, shows traces: it imports `eyeline.traces` and the rooms below it.
Nothing here imports torch.
"""

"""Seeing it: drawings for the terminal, the notebook and a figure.

Views take plain data (the documents of `document.py`, which are also what `--json` prints, so that no number can be
shown that isn't in it) and know nothing of models. rich and matplotlib load inside functions. This room imports the
standard library alone, and never torch.
"""

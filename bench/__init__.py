"""Eyeline beside its peers, case by case: `python -m bench`, from the folder above this one.

`cases` lists what is measured, with the peers and the targets; `problem` defines a problem; `peers/` holds how each
library solves one; `measure` times them and compares them with float64; `table` makes the README's table of `results/`.
"""

"""Eyeline beside its peers, case by case: `python -m bench`, from the folder above this one.

`cases` says what is measured, beside whom, and what is asked of it; `problem` what a problem is; `peers/` how each
library solves one; `measure` times them and holds them against float64; `table` makes the README's table of `results/`.
"""

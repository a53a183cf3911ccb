"""Eyeline beside its peers, row by row: `python -m bench`, from the folder above this one.

`cases` lists what is measured of attention, with the peers and the targets; `problem` defines a problem; `peers/` holds
how each library solves one; `measure` times them and compares them with float64. `whole_models` does so for models of
transformers; `small_calls` and `memory` measure what a call costs beside its work. `results_file` keeps the rows, and
`table` makes the README's tables of `results/`.
"""

"""Tiny models of many families of transformers, each run on Eyeline's attention and on transformers' eager one.

`listed` holds the families, `tiny_models` how one is built and what it is given, `cases` what is compared, `table` the
table in docs/hugging-face.md that says how it came out. Imports within are relative, since the tests find this package
as `families` and `python -m tests.families` as `tests.families`.
"""

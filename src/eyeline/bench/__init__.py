"""Measurements on this machine: the speed of attention, and the growth of its cost with the sequence.

`turns` times several sides in alternation, alone or right after a product of `products`, as in a model; `peak` measures
the processor's limit, `short` makes the table of `eyeline bench`, `growth` the curves of `eyeline bench growth`. This
room may import `attention` and the rooms above it, the plain data of `views`, and torch inside functions.
"""

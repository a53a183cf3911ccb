"""Measuring on the machine at hand: how fast attention is here, and how its cost grows with the sequence.

`turns` times several sides turn by turn, `peak` says what the processor can do at most, `short` is the table that
`eyeline bench` prints, `growth` what `eyeline bench growth` draws. This room may import `attention` and the rooms above
it, the plain data of `views`, and torch inside functions.
"""

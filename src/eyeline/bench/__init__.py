"""Measurements on the machine at hand: the speed of attention, and the growth of its cost with the sequence.

`turns` times several sides turn by turn, `peak` measures the processor's limit, `short` makes the table that
`eyeline bench` prints, `growth` the curves of `eyeline bench growth`. This room may import `attention` and the rooms
above it, the plain data of `views`, and torch inside functions.
"""

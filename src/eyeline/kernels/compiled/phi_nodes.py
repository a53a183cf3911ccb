"""Loops in LLVM IR: the phi nodes of the values that change from round to round."""

from __future__ import annotations


def phis(builder, values, block):
    """Phi nodes for `values`, which are their values when control comes from `block`."""
    found = []
    for value in values:
        phi = builder.phi(value.type)
        phi.add_incoming(value, block)
        found.append(phi)
    return found


def come_from(block, found, values):
    """Set the phi nodes' values for control that comes from `block`."""
    for phi, value in zip(found, values, strict=True):
        phi.add_incoming(value, block)


def repeated(builder, count, state, step):
    """`step(state)`, which returns the next state, a list of values, `count` times, which may be 0: returns the last
    state."""
    before = builder.block
    loop, done = (builder.append_basic_block(name) for name in ("repeated", "repeated.done"))
    nothing = count.type(0)
    builder.cbranch(builder.icmp_signed(">", count, nothing), loop, done)
    builder.position_at_end(loop)
    left, *now = phis(builder, [count, *state], before)
    after = step(now)
    less = builder.sub(left, count.type(1))
    last = builder.block
    come_from(last, [left, *now], [less, *after])
    builder.cbranch(builder.icmp_signed(">", less, nothing), loop, done)
    builder.position_at_end(done)
    ends = phis(builder, state, before)
    come_from(last, ends, after)
    return ends

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

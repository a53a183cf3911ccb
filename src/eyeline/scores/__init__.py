"""How scores change between q·k and the softmax: biases, caps, sinks, a function of the user's own.

This room may import `masks`.
"""

from eyeline.scores.lowered import Added, Called, Capped, Lowered, Relative, Step

__all__ = ["Added", "Called", "Capped", "Lowered", "Relative", "Step"]

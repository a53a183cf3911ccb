"""The specification: attention and its readouts on the whole matrix, n × n, in float64 NumPy.

Everything faster is tested against it, and the step-by-step view shows it. `formula` is the textbook's formula, one
short function per step; `observing` is `eyeline.observe` by each readout's own definition. This room may import
`masks`, `scores`, `readouts` and `dropout`, never `kernels`.
"""

from eyeline.reference.formula import (
    Steps,
    dot_products,
    dropped,
    masked,
    project,
    scaled,
    shares,
    softmax,
    steps,
    weighted_sum,
)
from eyeline.reference.observing import observe

__all__ = [
    "Steps",
    "dot_products",
    "dropped",
    "masked",
    "observe",
    "project",
    "scaled",
    "shares",
    "softmax",
    "steps",
    "weighted_sum",
]

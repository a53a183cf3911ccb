"""What is read of the weights in passing, without keeping the matrix: small values that say what is asked.

Each is defined once, on the whole matrix, in `reference`. This room may import `masks`, and imports NumPy alone.
"""

from eyeline.readouts.chosen import Readout, chosen, several
from eyeline.readouts.matrix import Pooled, Received
from eyeline.readouts.rectangle import Weights
from eyeline.readouts.rows import Entropy, GroupMass, MeanDistance, TopK

__all__ = [
    "Entropy",
    "GroupMass",
    "MeanDistance",
    "Pooled",
    "Readout",
    "Received",
    "TopK",
    "Weights",
    "chosen",
    "several",
]

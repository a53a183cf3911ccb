"""Readouts: numbers computed from the weights during the pass, without keeping the matrix; one file each.

Each readout is a frozen dataclass that derives from `Readout` and has

- its options: the fields, `check`, `alike` (the options that must agree for results to merge), and `results`, its
  output arrays;
- its definition on whole rows of the matrix, `read`, written once for NumPy and torch (`arrays` has the few functions
  that they spell differently). The reference reads all rows at once, torch's portable path blocks of queries;
- the merging of partial results, `merge_queries` and `merge_keys`: of blocks, shards, documents and ranks alike;
- its gradient, `coefficients`: d loss / d w for a block of rows;
- its lowering to the kernels' primitives (`lowered`): `lower` lists the primitives, `result` computes the arrays from
  them, and `lower_gradient` does the same for the backward pass.

No other room names a readout: a new one is a file here and a line below. The defaults in `Readout` are for a sum over a
row; `group_mass` is such a readout. `observation` holds the result of `observe`. This room may import `masks`, and
imports NumPy alone.
"""

from eyeline.readouts.chosen import chosen, several
from eyeline.readouts.entropy import Entropy
from eyeline.readouts.group_mass import GroupMass
from eyeline.readouts.mean_distance import MeanDistance
from eyeline.readouts.merging import merged
from eyeline.readouts.offset_mass import OffsetMass
from eyeline.readouts.pooled import Pooled
from eyeline.readouts.readout import KeyShares, PartialResult, Readout, ResultArray, Rows
from eyeline.readouts.received import Received
from eyeline.readouts.top_k import TopK, TopKeys
from eyeline.readouts.weights import Weights

__all__ = [
    "Entropy",
    "GroupMass",
    "KeyShares",
    "MeanDistance",
    "OffsetMass",
    "PartialResult",
    "Pooled",
    "Readout",
    "Received",
    "ResultArray",
    "Rows",
    "TopK",
    "TopKeys",
    "Weights",
    "chosen",
    "merged",
    "several",
]

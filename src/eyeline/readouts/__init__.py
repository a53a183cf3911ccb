"""What is read of the weights in passing, without keeping the matrix, one file each; and `Observation`.

A readout owns itself. Its class, a frozen dataclass that derives from `Readout`, has

- its question: the fields, `check`, `alike` (what two questions share if their answers merge), and `results`, the
  arrays that it gives;
- its definition on whole rows of the matrix, `read`, written once for NumPy and torch (`arrays` has the few functions
  that they spell differently). The reference reads all rows at once, torch's portable path blocks of queries;
- how partial results merge, `merge_queries` and `merge_keys`: of blocks, shards, documents and ranks alike;
- the coefficients of its gradient, `coefficients`: d loss / d w of a block of rows;
- how it lowers to the kernels' primitives (`lowered`): `lower` says which, `result` makes the arrays of what was found,
  and `lower_gradient` does the same for the backward pass.

Nobody else knows a readout by name: a new one is a file here and a line below. Its defaults are those of a sum over a
row, so that `group_mass` is what a simple one takes. This room may import `masks`, and imports NumPy alone.
"""

from eyeline.readouts.chosen import chosen, several
from eyeline.readouts.entropy import Entropy
from eyeline.readouts.group_mass import GroupMass
from eyeline.readouts.mean_distance import MeanDistance
from eyeline.readouts.merging import merged
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

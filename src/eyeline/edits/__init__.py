"""What is changed in a head: gates, cuts, factors, another run's pattern, queries, keys, values or output.

    from eyeline import edits as ed

Each edit is one file: its parts, its definition on the whole matrix (`define`, which the reference runs), and its
lowering to a handful of primitives (`lowered`), which the calls carry out in memory that grows with n. This room may
import masks, scores and words.
"""

from eyeline.edits.call_edits import CallEdits, as_batch, joined
from eyeline.edits.cut import Cut
from eyeline.edits.edit import Edit, EditStage
from eyeline.edits.errors import EditError
from eyeline.edits.gate import Gate
from eyeline.edits.mean_output import MeanOutput, MeanOutputs
from eyeline.edits.model_edits import ModelEdits, Sites
from eyeline.edits.order import Edits, in_order, lowered, several
from eyeline.edits.patch import Patch
from eyeline.edits.pattern import Pattern
from eyeline.edits.places import CallPlace, Kind, place_of
from eyeline.edits.reweight import Reweight
from eyeline.edits.runs import HeadsOfRun
from eyeline.edits.uniform import Uniform
from eyeline.edits.written import named, names, parse, words_of

__all__ = [
    "CallEdits",
    "CallPlace",
    "Cut",
    "Edit",
    "EditError",
    "EditStage",
    "Edits",
    "Gate",
    "HeadsOfRun",
    "Kind",
    "MeanOutput",
    "MeanOutputs",
    "ModelEdits",
    "Patch",
    "Pattern",
    "Reweight",
    "Sites",
    "Uniform",
    "as_batch",
    "in_order",
    "joined",
    "lowered",
    "named",
    "names",
    "parse",
    "place_of",
    "several",
    "words_of",
]

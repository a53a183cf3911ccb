"""Score modifiers, between q·k and the softmax: biases, caps, sinks, a user's own function.

Each has `apply`, its definition on the scores (the specification, for NumPy and torch alike); `lower`, the same as a
step for the kernels; and `pull_back`, from the gradient of that step's array to the gradients of the modifier's
parameters. This room may import `masks`.
"""

from eyeline.scores.alibi import Alibi
from eyeline.scores.bias import Bias
from eyeline.scores.flat import Flat
from eyeline.scores.hidden_pairs import HiddenPairs
from eyeline.scores.lowered import (
    Added,
    Called,
    Capped,
    Flattened,
    HiddenColumns,
    LoweredScores,
    Relative,
    Step,
    Weighted,
)
from eyeline.scores.relative_bias import RelativeBias
from eyeline.scores.score import Score
from eyeline.scores.score_function import Function, ScoreFunction
from eyeline.scores.sinks import Sinks
from eyeline.scores.softcap import Softcap
from eyeline.scores.stack import Scores, are_plain, lower, sinks_of, stacked
from eyeline.scores.weight_factor import WeightFactor

__all__ = [
    "Added",
    "Alibi",
    "Bias",
    "Called",
    "Capped",
    "Flat",
    "Flattened",
    "Function",
    "HiddenColumns",
    "HiddenPairs",
    "LoweredScores",
    "Relative",
    "RelativeBias",
    "Score",
    "ScoreFunction",
    "Scores",
    "Sinks",
    "Softcap",
    "Step",
    "WeightFactor",
    "Weighted",
    "are_plain",
    "lower",
    "sinks_of",
    "stacked",
]

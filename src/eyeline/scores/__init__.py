"""Score modifiers, between q·k and the softmax: biases, caps, sinks, a user's own function.

Each has two faces: `apply`, its definition on the scores themselves (the specification, for NumPy and torch alike), and
`lower`, the same as a step that the kernels read; `pull_back` turns the gradient of such a step into those of the
modifier's parameters. This room may import `masks`.
"""

from eyeline.scores.alibi import Alibi
from eyeline.scores.bias import Bias
from eyeline.scores.lowered import Added, Called, Capped, LoweredScores, Relative, Step
from eyeline.scores.relative_bias import RelativeBias
from eyeline.scores.score import Score
from eyeline.scores.score_function import Function, ScoreFunction
from eyeline.scores.sinks import Sinks
from eyeline.scores.softcap import Softcap
from eyeline.scores.stack import Scores, lower, stacked

__all__ = [
    "Added",
    "Alibi",
    "Bias",
    "Called",
    "Capped",
    "Function",
    "LoweredScores",
    "Relative",
    "RelativeBias",
    "Score",
    "ScoreFunction",
    "Scores",
    "Sinks",
    "Softcap",
    "Step",
    "lower",
    "stacked",
]

"""From a text to numbers: which words a token looks at, how two sentences make different things of one word, and what
every head does.

`explain` and `compare` run a model once over the text, add pieces up to words and give an `Explanation` or a
`Comparison`; `rollout` gives a `Rollout`, and `heads`, in a room of its own, `Heads`. Each prints itself. This room
imports the rooms above it (models, traces, views, attention, reference, readouts, masks) and NumPy.
"""

from __future__ import annotations

from eyeline.answers.behaviour import Heads, heads
from eyeline.answers.comparison import Comparison, compare
from eyeline.answers.explanation import Explanation, explain
from eyeline.answers.question import QuestionError
from eyeline.answers.rolled import Rollout, rollout

__all__ = [
    "Comparison",
    "Explanation",
    "Heads",
    "QuestionError",
    "Rollout",
    "compare",
    "explain",
    "heads",
    "rollout",
]

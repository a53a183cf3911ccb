"""From a text to numbers: which words a token looks at, how two sentences make different things of one word, and what
every head does.

`explain` and `compare` run a model once over the text, add pieces up to words and give an `Explanation` or a
`Comparison`; `heads`, in a room of its own, gives `Heads`. Each prints itself. This room imports the rooms above it
(models, views, reference, readouts, masks) and NumPy.
"""

from __future__ import annotations

from eyeline.explanations.behaviour import Heads, heads
from eyeline.explanations.comparison import Comparison, compare
from eyeline.explanations.explanation import Explanation, explain
from eyeline.explanations.question import QuestionError

__all__ = ["Comparison", "Explanation", "Heads", "QuestionError", "compare", "explain", "heads"]

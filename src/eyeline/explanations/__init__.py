"""From a sentence to numbers: which words a token looks at, and how two sentences make different things of one word.

`explain` and `compare` run a model once over the text, add pieces up to words and give an `Explanation` or a
`Comparison`, which prints itself. This room imports the rooms above it (models, views, reference, masks) and NumPy.
"""

from __future__ import annotations

from eyeline.explanations.comparison import Comparison, compare
from eyeline.explanations.explanation import Explanation, explain
from eyeline.explanations.question import QuestionError

__all__ = ["Comparison", "Explanation", "QuestionError", "compare", "explain"]

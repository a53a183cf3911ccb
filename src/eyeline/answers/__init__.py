"""Questions about a text: which words a token looks at, how the same word differs between two sentences, which words
contribute to a token, what every head of a model does, what changes without it, and why it looked at a token.

`toy` computes attention on a few small numbers, without a model. The others,
`explain`, `compare`, `rollout` and `heads`, record one run of a model and compute their answers from its trace:
`Explanation` (of an encoder-decoder, `EncoderDecoderExplanation`), `Comparison`, `Rollout` and `Heads`, frozen
dataclasses that render themselves as JSON; `why` takes a trace. They print
themselves once `eyeline.views.attach` is imported, which `eyeline.explain` and the others do. This room imports the
rooms below it (traces, models, reference, readouts, masks) and NumPy, and no views.
"""

from __future__ import annotations

from eyeline.answers.answer import Answer, Renderers
from eyeline.answers.attention_rollout import Rollout, rollout
from eyeline.answers.behaviour import Heads, heads
from eyeline.answers.comparison import Comparison, compare
from eyeline.answers.encoder_decoder import EncoderDecoderExplanation
from eyeline.answers.explaining import explain
from eyeline.answers.explanation import Explanation
from eyeline.answers.mattering import Effects, effects
from eyeline.answers.question import QuestionError
from eyeline.answers.score_sources import Why, why
from eyeline.answers.toy_attention import Toy, toy

__all__ = [
    "Answer",
    "Comparison",
    "Effects",
    "EncoderDecoderExplanation",
    "Explanation",
    "Heads",
    "QuestionError",
    "Renderers",
    "Rollout",
    "Toy",
    "Why",
    "compare",
    "effects",
    "explain",
    "heads",
    "rollout",
    "toy",
    "why",
]

"""What every head of a model does with a text: its numbers, and a plain word for them.

`heads` runs a model over a text, layer by layer, and gives `Heads`. `measures` has the numbers of one layer, `kinds`
which tokens they tell apart, `labels` the words and their thresholds. This room imports what `explanations` does.
"""

from __future__ import annotations

from eyeline.answers.behaviour.heads import Heads, heads

__all__ = ["Heads", "heads"]

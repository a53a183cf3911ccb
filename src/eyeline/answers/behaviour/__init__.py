"""What every head of a model does with a text: its numbers, and a plain word for them.

`heads` runs a model over a text once and gives `Heads`. `head_measures` has the numbers of one layer, `token_groups`
which tokens they tell apart, `head_labels` the words and their thresholds, `induction` the test that needs no text.
This room imports what `answers` does.
"""

from __future__ import annotations

from eyeline.answers.behaviour.all_heads import Heads, heads

__all__ = ["Heads", "heads"]

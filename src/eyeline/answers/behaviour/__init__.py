"""The behaviour of every head of a model on a text: its measures, and plain labels for them.

`heads` runs a model over a text once and returns `Heads`. `head_measures` has the measures of one layer, `token_groups`
the groups of tokens that they distinguish, `head_labels` the labels and their thresholds, `induction` the test that
needs no text. This room has the imports of `answers`.
"""

from __future__ import annotations

from eyeline.answers.behaviour.all_heads import Heads, heads

__all__ = ["Heads", "heads"]

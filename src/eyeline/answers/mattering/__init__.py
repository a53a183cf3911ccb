"""What changes when a head, or one look of a head, is cut: `effects`, and its answer `Effects`.

`measure` defines what is measured, `own_run` and `transformers_run` run a model with each head changed, `looking` says
how hard heads look, and `agreement` how far looking and mattering agree.
"""

from __future__ import annotations

from eyeline.answers.mattering.answer import Agreement, Edge, Effects, EffectsQuestion
from eyeline.answers.mattering.asking import effects
from eyeline.answers.mattering.prepared import effects_by_layer

__all__ = ["Agreement", "Edge", "Effects", "EffectsQuestion", "effects", "effects_by_layer"]

"""Eyeline: exact self-attention you can look into, at any length.

Start with `attention` and `observe` for arrays, or with `explain`, `compare`, `heads` and `rollout` for texts; `why`
splits the score behind a look, `view` shows texts on a page, `embed` makes vectors of them, and `survey` says what
heads do over a whole corpus. Importing this package loads only NumPy: kernels, models and views load at their first
use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import eyeline.attention as _attention_room  # noqa: F401  # before the function of that name is bound below
from eyeline.calls import attention, observe
from eyeline.huggingface.import_hook import register_on_import
from eyeline.kernels.threads import get_threads, set_threads
from eyeline.masks import Causal, Dense, Documents, Intervals, Mask, MaskFunction, Padding, PrefixLM, Shard, Window
from eyeline.readouts import Entropy, GroupMass, MeanDistance, OffsetMass, Pooled, Received, TopK, Weights
from eyeline.readouts.observation import Observation
from eyeline.scores import Alibi, Bias, RelativeBias, ScoreFunction, Sinks, Softcap
from eyeline.version import VERSION

if TYPE_CHECKING:
    from eyeline.answers import compare, effects, explain, heads, rollout, toy, why
    from eyeline.huggingface import attach, edit, watch
    from eyeline.models import embed
    from eyeline.surveys import Survey, load_survey, survey
    from eyeline.traces import Trace, load_trace, mean_outputs, record
    from eyeline.views.viewing import view

__version__ = VERSION
__all__ = [
    "Alibi",
    "Bias",
    "Causal",
    "Dense",
    "Documents",
    "Entropy",
    "GroupMass",
    "Intervals",
    "Mask",
    "MaskFunction",
    "MeanDistance",
    "Observation",
    "OffsetMass",
    "Padding",
    "Pooled",
    "PrefixLM",
    "Received",
    "RelativeBias",
    "ScoreFunction",
    "Shard",
    "Sinks",
    "Softcap",
    "Survey",
    "TopK",
    "Trace",
    "Weights",
    "Window",
    "attach",
    "attention",
    "compare",
    "edit",
    "effects",
    "embed",
    "explain",
    "get_threads",
    "heads",
    "lesson",
    "load_survey",
    "load_trace",
    "mean_outputs",
    "observe",
    "record",
    "rollout",
    "set_threads",
    "survey",
    "toy",
    "view",
    "watch",
    "why",
]

# `attn_implementation="eyeline"` works whichever of the two is imported first.
register_on_import()


_LATER = {
    "Survey": "surveys",
    "Trace": "traces",
    "attach": "huggingface",
    "compare": "answers",
    "edit": "huggingface",
    "effects": "answers",
    "embed": "models",
    "explain": "answers",
    "heads": "answers",
    "lesson": "views.page",
    "load_survey": "surveys",
    "load_trace": "traces",
    "mean_outputs": "traces",
    "record": "traces",
    "rollout": "answers",
    "survey": "surveys",
    "toy": "answers",
    "view": "views.viewing",
    "watch": "huggingface",
    "why": "answers",
}
#: Rooms that `import eyeline` leaves unloaded.
_ROOMS = ("edits", "huggingface", "models", "reference", "surveys", "torch", "traces")


def __getattr__(name: str) -> Any:
    if name not in _LATER and name not in _ROOMS:
        raise AttributeError(f"module 'eyeline' has no attribute {name!r}")
    from importlib import import_module

    if _LATER.get(name) == "answers":
        import_module("eyeline.views.attach")  # so that answers print themselves
    if _LATER.get(name) == "surveys":
        import_module("eyeline.views.attach_survey")  # and surveys
    room = import_module(f"eyeline.{_LATER.get(name, name)}")
    return getattr(room, name) if name in _LATER else room

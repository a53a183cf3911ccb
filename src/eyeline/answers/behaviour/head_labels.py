"""Plain labels for a head's behaviour, and their thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from eyeline.answers.behaviour.head_measures import CLARK, GU, SINK_TOKENS
from eyeline.words import noted

MIXED = "mixed"


@dataclass(frozen=True)
class Label:
    """A label for a head.

    Attributes:
        label: its text.
        key: its short form, for options.
        measure: the measure that decides.
        above: the threshold that the measure must exceed.
        source: the threshold's source.
    """

    label: str
    key: str
    measure: str
    above: float
    source: str


#: In order of precedence: rarer and more informative labels come first. An induction head gives its weight to the first
#: token wherever there is no earlier copy; and a head that gives a third to the first token may spread the rest.
LABELS = (
    Label("induction", "induction", "induction", 0.5, noted("ours, on Olsson et al.'s score")),
    Label("previous token", "previous", "previous", 0.5, CLARK),
    Label("next token", "next", "next", 0.5, CLARK),
    Label("same token", "same", "same", 0.5, noted("ours, as for its neighbours")),
    Label("punctuation", "punctuation", "punctuation", 0.6, CLARK),
    Label("separator", "separator", "separator", 0.6, CLARK),
    Label("first-token sink", "sink", "sink", 0.3, GU),
    Label("broad", "broad", "entropy", 3.8, CLARK),
)
#: In a text of fewer than 64 tokens, uniform attention already exceeds the sink's threshold.
_SHORT_SINK = Label("first-token sink", "sink", "sink", 0.6, noted("as for [CLS] in Clark et al. 2019"))


def labels_for(tokens: int, causal: bool) -> tuple[Label, ...]:
    """The labels that can apply for a text of `tokens` tokens.

    Induction heads help to predict the next token, so only causal models have any.
    """
    known = tuple(label for label in LABELS if causal or label.key != "induction")
    if tokens >= SINK_TOKENS:
        return known
    return tuple(_SHORT_SINK if label.key == "sink" else label for label in known)


def apply(labels: tuple[Label, ...], numbers: Mapping[str, float]) -> tuple[str, ...]:
    """The names of the labels that apply to a head, by precedence; "mixed" if none does.

    >>> apply(LABELS, {"previous": 0.7, "sink": 0.31, "entropy": 1.0, "special": float("nan")})
    ('previous token', 'first-token sink')
    >>> apply(LABELS, {"previous": 0.5})
    ('mixed',)
    """
    found = tuple(label.label for label in labels if numbers.get(label.measure, math.nan) > label.above)
    return found or (MIXED,)

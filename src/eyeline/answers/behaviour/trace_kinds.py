"""The kinds of a trace's heads: the labels of `heads`, from the trace alone, without running the model again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eyeline.answers.behaviour.head_labels import LABELS, MIXED, apply, labels_for
from eyeline.answers.behaviour.head_measures import FIRST, Array, measures, readouts, sink
from eyeline.answers.behaviour.token_groups import PUNCTUATION, SPECIAL, TokenGroups, is_punctuation
from eyeline.readouts import Entropy
from eyeline.traces import LayerTrace, Trace
from eyeline.traces.tokenized_text import TokenizedText

Kinds = list[tuple[str, ...]]
_KEYS = {label.label: label.key for label in LABELS} | {MIXED: MIXED}


def kinds_of(trace: Trace, layers: Sequence[int] | None = None) -> list[Kinds]:
    """The short names of the labels that apply to each head, by precedence.

    They are those of `heads` but for "induction", whose test needs runs of its own. Where queries and keys are different
    texts, no key is the previous, the next or the same token.

    Args:
        trace: the trace.
        layers: the layers, counted from 0; all if not given.

    Returns:
        For each of these layers, for each head, one name or more; "mixed" if no label applies.

    >>> from eyeline.traces import record
    >>> kinds_of(record("time flies like an arrow"))[0][2]
    ('previous',)
    """
    across, causal = trace.across, trace.kind == "decoder"
    groups = groups_of_keys(across)
    labels = labels_for(len(across), causal)
    chosen = range(len(trace.layers)) if layers is None else layers
    result: list[Kinds] = []
    for place in chosen:
        table = _measures(trace.layer(place), trace, groups)
        heads = range(trace.model.heads)
        names = [apply(labels, {name: float(numbers[head]) for name, numbers in table.items()}) for head in heads]
        result.append([tuple(_KEYS[name] for name in found) for found in names])
    return result


def groups_of_keys(text: TokenizedText) -> TokenGroups:
    """The groups of a trace's tokens; see `TokenGroups`."""
    special = np.array([span is None for span in text.spans], np.bool_)
    texts = ("" if span is None else text.text[slice(*span)] for span in text.spans)
    return TokenGroups(special, np.array([is_punctuation(piece) for piece in texts], np.bool_))


def _measures(layer: LayerTrace, trace: Trace, groups: TokenGroups) -> dict[str, Array]:
    if trace.keys is None:
        return measures(layer, layer.observe(readouts(groups)), groups)
    seen = layer.observe([Entropy(), groups.readout])
    mass = seen.group_mass.reshape(*layer.lse.shape, -1)
    found = {"entropy": seen.entropy.reshape(layer.lse.shape).mean(axis=-1, dtype=np.float64)}
    for name, group in (("separator", SPECIAL), ("punctuation", PUNCTUATION)):
        found[name] = mass[..., group].mean(axis=-1, dtype=np.float64)
    return found | {"sink": sink(mass[..., FIRST])}

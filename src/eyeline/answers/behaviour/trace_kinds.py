"""The kinds of a trace's heads: the labels of `heads`, from the trace alone, without running the model again."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import numpy as np

from eyeline.answers.behaviour.head_labels import LABELS, MIXED, apply, labels_for
from eyeline.answers.behaviour.head_measures import Array, measures, readouts, sink
from eyeline.answers.behaviour.token_groups import FIRST, PUNCTUATION, SPECIAL, TokenGroups, is_punctuation
from eyeline.readouts import Entropy
from eyeline.traces import LayerTrace, Trace
from eyeline.traces.measures import Measures
from eyeline.traces.tokenized_text import TokenizedText

_LABELS = {label.label: label for label in LABELS}
#: A head's kinds, and the value of the measure that decides each: a share, or the entropy in nats of "broad".
Kinds = dict[str, float | None]
#: By the trace's measures, which a server keeps when it drops the arrays of an old trace.
_found: weakref.WeakKeyDictionary[Measures, list[list[Kinds]]] = weakref.WeakKeyDictionary()


def kinds_of(trace: Trace) -> list[list[Kinds]]:
    """The short names of the labels that apply to each head, by precedence. They are computed once for a trace.

    They are those of `heads` but for "induction", whose test needs runs of its own. Where queries and keys are
    different texts, no key is the previous, the next or the same token.

    Returns:
        For each layer, for each head, one name or more with the value of its measure: a mean share of the weight, or
        for "broad" the mean entropy in nats. If no label applies, "mixed", whose value is None.

    >>> from eyeline.traces import record
    >>> kinds_of(record("time flies like an arrow"))[0][2]
    {'previous': 0.8571}
    """
    known = _found.get(trace.measures)
    if known is None:
        known = _found[trace.measures] = _kinds_of(trace)
    return known


def _kinds_of(trace: Trace) -> list[list[Kinds]]:
    groups = groups_of_keys(trace.across)
    labels = labels_for(len(trace.across), trace.kind == "decoder")
    result = []
    for layer in trace.layers:
        table = _measures(layer, trace.keys is None, groups)
        numbers = [{name: float(values[head]) for name, values in table.items()} for head in range(trace.model.heads)]
        result.append([_named(apply(labels, each), each) for each in numbers])
    return result


def _named(labels: tuple[str, ...], numbers: Mapping[str, float]) -> Kinds:
    """The labels' short names, each with the value of its measure."""
    if labels == (MIXED,):
        return {MIXED: None}
    return {_LABELS[label].key: round(numbers[_LABELS[label].measure], 4) for label in labels}


def groups_of_keys(text: TokenizedText) -> TokenGroups:
    """The groups of a trace's tokens; see `TokenGroups`."""
    special = np.array([span is None for span in text.spans], np.bool_)
    texts = ("" if span is None else text.text[slice(*span)] for span in text.spans)
    return TokenGroups(special, np.array([is_punctuation(piece) for piece in texts], np.bool_))


def _measures(layer: LayerTrace, same_text: bool, groups: TokenGroups) -> dict[str, Array]:
    """The measures that decide the labels, (H,) each."""
    if same_text:
        return measures(layer, layer.observe(readouts(groups)), groups)
    seen = layer.observe([Entropy(), groups.readout])
    mass = seen.group_mass.reshape(*layer.lse.shape, -1)
    found = {"entropy": seen.entropy.reshape(layer.lse.shape).mean(axis=-1, dtype=np.float64)}
    for name, group in (("separator", SPECIAL), ("punctuation", PUNCTUATION)):
        found[name] = mass[..., group].mean(axis=-1, dtype=np.float64)
    return found | {"sink": sink(mass[..., FIRST])}

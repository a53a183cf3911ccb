"""Traces: what a run leaves, and its weights had again from it."""

from __future__ import annotations

import numpy as np
import pytest

import eyeline as el
from eyeline.models import load
from eyeline.traces import Cancelled, TraceError, record

TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def minilm():
    return load("minilm")


@pytest.fixture(scope="module")
def trace(minilm):
    return record(TEXT, model=minilm)


def test_a_traces_weights_are_those_of_the_run(minilm, trace):
    run = minilm.run([minilm.tokens(TEXT).ids], weights=True)
    for layer, kept in enumerate(run.layers):
        for head in range(12):
            assert np.abs(trace.weights(layer, head) - kept.weights[0, head]).max() < 1e-6


def test_it_is_given_up_between_layers(minilm):
    asked = []

    def cancelled():
        asked.append(True)
        return len(asked) == 3

    said = []
    with pytest.raises(Cancelled):
        record(TEXT, model=minilm, cancelled=cancelled, progress=said.append)
    assert said == ["minilm: layer 1 of 6", "minilm: layer 2 of 6"]


@pytest.mark.parametrize("text", ["", " \n", 3])
def test_a_text_must_be_one(minilm, text):
    with pytest.raises(TraceError, match=r"^text must "):
        record(text, model=minilm)


def test_public_names_are_there():
    assert el.record is record
    assert el.view(record(TEXT)).title == TEXT

"""The telling head, where a page opens, and the kinds of a trace's heads."""

from __future__ import annotations

import numpy as np
import pages
import pytest

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.answers.behaviour.head_labels import LABELS
from eyeline.answers.behaviour.trace_kinds import kinds_of
from eyeline.answers.telling import TellingHead, telling
from eyeline.masks import Causal
from eyeline.traces import Trace, TraceError, record
from eyeline.traces.tokenized_text import Word
from eyeline.views.page import Page

FLIES = "time flies like an arrow"


@pytest.fixture(scope="module")
def flies():
    return record(FLIES)


def of_weights(*layers, words=None, keys=None, mask=None) -> Trace:
    """A trace whose weights are given: (heads, N, M) for each layer, rows that sum to 1."""
    w = np.array(layers, np.float64)
    queries = words or [f"word{place}" for place in range(w.shape[2])]
    # q is the log of the weights, and k the unit vectors, so that q·k is the weight's log.
    k = np.broadcast_to(np.eye(w.shape[3]), (*w.shape[:2], w.shape[3], w.shape[3]))
    return Trace.of(np.log(np.maximum(w, 1e-30)), k, scale=1.0, queries=queries, keys=keys, mask=mask)


def one_look(N: int, query: int, key: int, weight: float) -> np.ndarray:
    """A head of uniform weights, in which one word looks sharply at another."""
    w = np.full((N, N), 1 / N)
    w[query] = (1 - weight) / (N - 1)
    w[query, key] = weight
    return w


def test_the_sharpest_weight_on_another_word_is_found(flies):
    found = telling(flies)
    assert (found.layer, found.head, found.token, found.key, found.why) == (5, 11, 3, 5, "far")
    assert found.weight == pytest.approx(flies.weights(5, 11, 3, 5).item())
    every = np.stack([layer.weights for layer in flies.layers[4:]])
    every[..., [0, 6]] = 0  # special tokens as keys, and as queries
    every[..., [0, 6], :] = 0
    near = np.abs(np.subtract.outer(np.arange(7), np.arange(7))) <= 1
    assert found.weight == pytest.approx(np.where(near, 0, every).max())


def test_only_the_last_third_of_the_layers_is_searched_at_least_two():
    sharp, plain = one_look(5, 0, 3, 0.9)[None], np.full((1, 5, 5), 0.2)
    for layers, first in ((1, 0), (2, 0), (3, 1), (6, 4), (7, 4), (9, 6)):
        for place in range(layers):
            found = telling(of_weights(*(sharp if here == place else plain for here in range(layers))))
            assert (found.layer == place and found.weight > 0.8) == (place >= first), (layers, place)


def test_positional_heads_and_sinks_are_left_out():
    N = 6
    previous, following, same, sink = (np.full((N, N), 0.02 / N) for _ in range(4))
    for row in range(N):
        previous[row, max(row - 1, 0)] += 0.98
        following[row, min(row + 1, N - 1)] += 0.98
        same[row, row] += 0.98
        sink[row, 0] += 0.98
    heads = np.stack([previous, following, same, sink, one_look(N, 1, 4, 0.5)])
    trace = of_weights(heads, heads)
    assert [list(kinds) for kinds in kinds_of(trace)[0]] == [["previous"], ["next"], ["same"], ["sink"], ["mixed"]]
    found = telling(trace)
    assert (found.layer, found.head, found.token, found.key, found.why) == (0, 4, 1, 4, "far")
    only_plain = telling(of_weights(heads[:4]))
    assert (only_plain.head, only_plain.why) == (0, "plain")


def test_a_word_further_away_is_taken_unless_its_weight_is_less_than_half():
    for far, key, why in ((0.4, 4, "far"), (0.2, 1, "near")):
        w = np.full((5, 5), 0.2)
        w[0] = [0.0, 0.6, (0.4 - far) / 2, (0.4 - far) / 2, far]
        found = telling(of_weights(w[None]))
        assert (found.key, found.why) == (key, why)


def test_the_question_narrows_the_search(flies):
    for token in range(7):
        assert telling(flies, token).token == token
    assert [telling(flies, layer=layer).layer for layer in range(6)] == list(range(6))
    with pytest.raises(TraceError, match=r"token must be from 0 to 6, got 7"):
        telling(flies, 7)
    with pytest.raises(QuestionError, match=r"layer must be from 0 to 5 in minilm, got 6"):
        telling(flies, layer=6)


def test_no_word_looks_at_another_in_a_text_of_one():
    assert telling(record("time")) is None
    assert telling(record("time !?")) is None  # punctuation isn't a word
    assert telling(of_weights(np.ones((1, 1, 1)))) is None


def test_a_decoders_words_look_back_alone():
    w = np.tril(np.ones((2, 5, 5)))
    found = telling(of_weights(w / w.sum(axis=2, keepdims=True), mask=Causal()))
    assert found.token > found.key
    assert telling(of_weights(np.ones((1, 5, 5)), mask=Causal()), 0) is None  # the first word sees itself alone


def test_any_word_counts_across_two_texts():
    w = np.array([[[0.1, 0.7, 0.2], [0.3, 0.3, 0.4]]])
    found = telling(of_weights(w, words=["a", "b"], keys=["x", "y", "z"]))
    assert found == TellingHead(0, 0, 0, 1, found.weight, "across")
    assert found.weight == pytest.approx(0.7)
    assert kinds_of(of_weights(w, words=["a", "b"], keys=["x", "y", "z"])) == [[{"mixed": None}]]


def test_pieces_of_a_word_are_added_and_its_queries_averaged():
    w = np.full((4, 4), 0.25)
    w[2], w[3] = [0.4, 0.4, 0.1, 0.1], [0.3, 0.3, 0.2, 0.2]
    trace = of_weights(w[None], words=["a", "b", "c", "d"])
    text = trace.queries
    object.__setattr__(text, "words", (Word((0, 2), (0, 3)), Word((2, 4), (4, 7))))
    found = telling(trace, 3)
    assert (found.token, found.key) == (2, 0)
    assert found.weight == pytest.approx(0.7)


def test_a_long_text_is_searched_at_its_beginning_in_little_memory():
    trace = pages.trace(pages.words(2046), mask=Causal(), layers=2, heads=3, value_dim=None)
    assert telling(trace).token < 512
    assert telling(trace, 2000).token == 2000


def test_kinds_are_the_labels_of_heads():
    keys = {label.label: label.key for label in LABELS} | {"mixed": "mixed"}
    text = "Time flies like an arrow; fruit flies like a banana."
    for model in ("minilm", "smollm2"):
        entries = el.heads(text, model=model).heads
        want = [[keys[name] for name in entry.labels if name != "induction"] or ["mixed"] for entry in entries]
        found = [kinds for layer in kinds_of(record(text, model=model)) for kinds in layer]
        assert [list(kinds) for kinds in found] == want
        measures = {label.key: label.measure for label in LABELS}
        for entry, kinds in zip(entries, found, strict=True):
            for name, value in kinds.items():
                assert value == (None if name == "mixed" else pytest.approx(getattr(entry, measures[name]), abs=2e-3))


def test_a_page_opens_at_the_telling_head(flies):
    header = Page([flies]).header()
    assert header["state"] == {"view": "sentence", "trace": 0, "layer": 5, "head": 11, "token": 3}
    assert header["opening"] == {"layer": 5, "head": 11, "token": 3, "key": 5, "weight": 0.70786, "why": "far"}
    assert header["traces"][0]["kinds"] == kinds_of(flies)
    within = Page([flies], {"layer": 2, "token": 4})
    assert within.header()["opening"]["layer"] == 2
    assert {name: within.state[name] for name in ("layer", "token")} == {"layer": 2, "token": 4}
    named = Page([flies], {"head": 3}).header()
    assert (named["opening"], named["state"]["token"], named["state"]["head"]) == (None, None, 3)
    assert Page([record("time")]).header()["opening"] is None


def test_weights_that_differ_by_rounding_alone_are_equal():
    """A key word that is the whole text is looked at with a weight of 1 by every word and head, up to rounding."""
    cross = record("12.11.2003", model="dates")[2]
    assert len(cross.across.words) == 1
    found = telling(cross)
    assert (found.layer, found.head, found.token, found.key, found.weight, found.why) == (0, 0, 0, 0, 1, "across")

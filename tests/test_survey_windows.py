"""Surveys: documents cut into windows, the types of tokens, users' labels, hashes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from survey_models import MadeUpModel, word_tokens
from tiny import save_decoder

from eyeline.models import ModelError, load
from eyeline.surveys import SurveyError
from eyeline.surveys.document import Document
from eyeline.surveys.hashes import splitmix, token_hashes
from eyeline.surveys.scales import TYPES
from eyeline.surveys.settings import Settings
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.typed_tokens import PIECE, UnreadError, pieces_of, read_pieces
from eyeline.surveys.windows import windows_of, windows_of_all

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return str(save_decoder(tmp_path_factory.mktemp("decoder")))


def cut(text, window=8, overlap=2, causal=False, tokens=word_tokens, classes=None):
    document = Document(0, "a.txt", 0, text)
    return list(windows_of(document, tokens, Settings(window, overlap), causal, TokenTypes(classes)))


def counted(windows):
    """The numbers of the tokens of text that each window counts."""
    return [window.numbers[window.counted & ~window.special].tolist() for window in windows]


def test_windows_share_their_overlap():
    windows = cut(" ".join(WORDS))
    assert [window.texts for window in windows] == [
        ["[CLS]", "zero", " one", " two", " three", " four", " five", "[SEP]"],
        ["[CLS]", " four", " five", " six", " seven", " eight", " nine", "[SEP]"],
        ["[CLS]", " eight", " nine", " ten", " eleven", "[SEP]"],
    ]
    assert [window.number for window in windows] == [0, 1, 2]
    assert windows[1].ids.tolist() == word_tokens("four five six seven eight nine").ids
    assert windows[1].special.tolist() == [True, *[False] * 6, True]
    assert windows[1].numbers.tolist() == [-1, 4, 5, 6, 7, 8, 9, -1]


def test_overlap_is_counted_where_it_has_more_context():
    assert counted(cut(" ".join(WORDS))) == [[0, 1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]
    assert counted(cut(" ".join(WORDS), causal=True)) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9], [10, 11]]
    # Of an odd overlap, the later window has one token more.
    assert counted(cut(" ".join(WORDS), overlap=3)) == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9, 10, 11]]


@pytest.mark.parametrize("causal", [False, True])
def test_every_token_of_text_is_counted_once(causal):
    for count, window, overlap in itertools.product(range(1, 30), (5, 6, 9), (0, 1, 2)):
        text = " ".join(f"w{number}" for number in range(count))
        windows = cut(text, window, overlap, causal)
        assert sorted(itertools.chain(*counted(windows))) == list(range(count))
        assert all(len(one) <= window for one in windows)
        assert all(one.counted[one.special].all() for one in windows)
        assert len(windows) == 1 + max(0, -(-(count - (window - 2)) // (window - 2 - overlap)))


def test_special_tokens_are_counted_in_each_window():
    assert [int((window.counted & window.special).sum()) for window in cut(" ".join(WORDS))] == [2, 2, 2]


def test_window_without_room():
    with pytest.raises(SurveyError, match=r"^window must have room .*, 5 tokens, got 4$"):
        cut("one two three", window=4, overlap=2)


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        ("", "empty", "no words"),
        (" \n\t\u3000", "empty", "no words"),
        ("\x00\x07", "empty", "no words"),
        ("a \ud800 b", "encoding", "position 2"),
        (None, "not text", "NoneType"),
    ],
)
def test_documents_that_cannot_be_read(text, reason, detail):
    with pytest.raises(UnreadError, match=detail) as found:
        cut(text, tokens=load("minilm").tokens)
    assert found.value.reason == reason


def test_what_comes_before_a_failure_is_measured():
    def tokens(text):
        if "bad" in text:
            raise ModelError("tokenizer.json can't cut this text")
        return word_tokens(text)

    text = "good " * (PIECE // 5) + "bad"
    windows = windows_of(Document(0, "a", 0, text), tokens, Settings(20002, 0), False, TokenTypes())
    found = [next(windows), next(windows)]
    with pytest.raises(UnreadError, match="can't cut"):
        next(windows)
    assert [len(window) - 2 for window in found] == [20000, PIECE // 5 - 20000]


def test_a_long_text_is_cut_at_white_space():
    text = "  time flies\nlike an arrow   "
    for most in range(1, 12):
        pieces = list(pieces_of(text, most))
        assert "".join(pieces) == text
        assert all(len(piece) <= most for piece in pieces)
    assert list(pieces_of("abcdefgh", 3)) == ["abc", "def", "gh"]
    assert list(pieces_of("")) == [""]


def test_pieces_of_a_text_give_its_windows(monkeypatch):
    tokens = load("minilm").tokens
    text = " ".join(f"Word {number}, unbelievably!" for number in range(60))
    whole = cut(text, 32, 5, tokens=tokens)
    monkeypatch.setattr("eyeline.surveys.typed_tokens.pieces_of", lambda text: pieces_of(text, 100))
    parts = cut(text, 32, 5, tokens=tokens)
    assert len(whole) == len(parts) > 10
    for one, other in zip(whole, parts, strict=True):
        assert one.texts == other.texts
        for name in ("ids", "special", "types", "counted", "numbers"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_ten_million_characters_in_bounded_work():
    text = ("abcdefghi" * 111 + " ") * 10_000
    assert len(text) == 10_000_000
    model = MadeUpModel()
    windows = windows_of(Document(0, "a", 0, text), model.tokens, Settings(64, 8), False, TokenTypes())
    next(windows)
    assert model.tokenized == [len(next(pieces_of(text)))]
    tokens = sum(int((window.counted & ~window.special).sum()) for window in windows) + 58
    assert tokens == 10_000
    assert max(model.tokenized) <= PIECE
    assert sum(model.tokenized) == len(text)


def names_of(tokens):
    (piece,) = read_pieces([Document(0, "", 0, tokens.text)], lambda text: tokens, TokenTypes())
    return [TYPES[number] for number in piece.read.types]


@pytest.mark.parametrize("model", ["minilm", None])
def test_documents_read_together_and_alone(model, decoder):
    """The words and the texts of a document end where it ends, with special tokens around it or without."""
    tokens = load(model or decoder).tokens
    texts = ["Time flies", "like an arrow", "\u0301a", "", "bcd.  ", " e", "\ud800", "Ünbelievably 🦋"]
    documents = [Document(number, "a", number, text) for number, text in enumerate(texts)]
    skipped = []
    settings = Settings(20, 2)
    every = list(
        windows_of_all(documents, tokens, settings, True, TokenTypes(), lambda one, error: skipped.append(one.number))
    )
    assert skipped == [3, 6]
    alone = [
        window
        for one in documents
        if one.number not in skipped
        for window in windows_of(one, tokens, settings, True, TokenTypes())
    ]
    for one, other in zip(every, alone, strict=True):
        assert (one.document, one.number, one.texts) == (other.document, other.number, other.texts)
        for name in ("ids", "special", "types", "counted", "numbers"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("Well", ["capital"]),
        ("well", ["word"]),
        ("…", ["punctuation"]),
        ("1905", ["digits"]),
        ("½", ["digits"]),
        ("🦋", ["other"]),
        ("€", ["other"]),
        ("é", ["word"]),
        ("e\u0301", ["word"]),
        ("Ǆ", ["capital"]),
        ("ǅ", ["capital"]),
        ("שלום", ["word"]),
        ("٣", ["digits"]),
        ("東京", ["word"]),
        ("\u0301", ["other"]),
        ("\x00a", ["word"]),
        ("_", ["punctuation"]),
        ("x1", ["word"]),
        ("ﬁ", ["word"]),
    ],
)
def test_types_of_hostile_texts(text, types):
    from eyeline.models import Tokens

    assert names_of(Tokens(text, [5], [text], [(0, len(text))], [False])) == types


def test_types_in_a_model():
    tokens = load("minilm").tokens("Well, Tokenizers cost 3€ (naïvely) 🦋!")
    assert list(zip(tokens.pieces, names_of(tokens), strict=True)) == [
        ("[CLS]", "special"),
        ("well", "capital"),
        (",", "punctuation"),
        ("token", "capital"),
        ("##izer", "piece"),
        ("##s", "piece"),
        ("cost", "word"),
        ("3", "digits"),
        ("##€", "other"),
        ("(", "punctuation"),
        ("naive", "word"),
        ("##ly", "piece"),
        (")", "punctuation"),
        ("[UNK]", "other"),
        ("!", "punctuation"),
        ("[SEP]", "special"),
    ]


def test_first_token_of_a_window_has_a_type_of_its_own():
    names = [[TYPES[number] for number in window.types] for window in cut("one two three four", 5, 1)]
    assert names == [["first", "word", "word", "word", "special"], ["first", "word", "word", "special"]]


def test_labels_split_types():
    def classes(tokens):
        return ["vowel" if piece[0] in "aeiou" else "" for piece in tokens.pieces]

    types = TokenTypes(classes)
    (window,) = windows_of(Document(0, "", 0, "one two, Eight"), word_tokens, Settings(9, 0), False, types)
    assert [types.names[number] for number in window.types] == [
        "first",
        "word/vowel",
        "word",
        "punctuation",
        "capital",
        "special",
    ]
    assert types.names == [*TYPES, "word/vowel"]
    assert [TYPES[parent] for parent in types.parents[8:]] == ["word"]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (lambda tokens: ["a"], "one label for each token of a text, 5 of them, got 1"),
        (lambda tokens: "abcde", "5 of them, got str"),
        (lambda tokens: [1] * len(tokens), "texts of valid Unicode, got 1"),
        (lambda tokens: [["a"]] * len(tokens), r"texts of valid Unicode, got \['a'\]"),
        (lambda tokens: ["\ud800"] * len(tokens), "texts of valid Unicode"),
        (lambda tokens: {}["noun"], "it raised KeyError: 'noun'"),
        (lambda tokens: None, "it raised TypeError"),
    ],
)
def test_wrong_labels(classes, message):
    with pytest.raises(SurveyError, match=message):
        cut("one two three", classes=classes)


def test_too_many_labels():
    text = " ".join(f"w{number}" for number in range(57))
    with pytest.raises(SurveyError, match=r"^classes must split the types of tokens into at most 64, .*word/w56"):
        cut(text, window=64, classes=lambda tokens: ["", *tokens.pieces[1:-1], ""])


def test_hash_is_splitmix():
    # The first numbers of the sequence of seed 1234567, as its authors' program prints them.
    assert splitmix(1234567, np.arange(5)).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_hash_depends_on_file_and_place_alone():
    numbers = np.arange(4)
    one = token_hashes(Document(0, "a.txt", 3, "x"), numbers)
    assert one.tolist() == token_hashes(Document(7, "a.txt", 3, "y"), numbers).tolist()
    others = [token_hashes(Document(0, file, place, "x"), numbers) for file, place in (("a.txt", 4), ("b.txt", 3))]
    assert len({*one.tolist(), *others[0].tolist(), *others[1].tolist()}) == 12
    assert token_hashes(Document(0, "\udcff", 0, ""), numbers[:1]).dtype == np.uint64

"""The interface to the tokenizers library: reads a tokenizer, tokenizes text, and reports its errors in one line."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eyeline.forks import ForkSafeLock
from eyeline.models.errors import ModelError
from eyeline.models.tokens import Tokens
from eyeline.words import system_message, worded

_REDIRECTED = ForkSafeLock()


def read_tokenizer(path: Path, vocabulary_size: int) -> Any:
    """Read a tokenizer from `path`, a tokenizer.json, and turn off its truncation and padding."""
    from tokenizers import Tokenizer

    try:
        written = path.read_text("utf-8")
        with panics_caught():
            tokenizer = Tokenizer.from_str(written)
    except OSError as error:
        raise ModelError(
            worded("{path} can't be read: {strerror}", path=path, strerror=system_message(error))
        ) from None
    except Exception as error:  # the library raises bare Exception
        reason = " ".join(str(error).split())
        raise ModelError(
            worded("{path} is damaged or was cut short ({reason}); get the file again", path=path, reason=reason)
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    size = tokenizer.get_vocab_size(with_added_tokens=True)
    if size > vocabulary_size:
        raise ModelError(
            worded(
                "{path} must have no more tokens than config.json's vocabulary, {vocabulary_size}, got "
                "{size}; the two files must be of one model",
                path=path,
                vocabulary_size=vocabulary_size,
                size=size,
            )
        )
    return tokenizer


def check_unicode(text: str, name: str = "text") -> None:
    """Check that a text is a string of valid Unicode.

    Raises:
        ModelError: if it isn't.
    """
    if not isinstance(text, str):
        raise ModelError(worded("{name} must be a string, got {type}", name=name, type=type(text).__name__))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        raise ModelError(
            worded(
                "{name} must be valid Unicode, got {wrong!r} at position {start}; decode it from its right encoding",
                name=name,
                wrong=wrong,
                start=error.start,
            )
        ) from None


def tokenize(tokenizer: Any, text: str, vocabulary_size: int, unknown: int | None) -> Tokens:
    """Tokenize `text`, with special tokens; `unknown` is the id of the unknown token (`unknown_id`)."""
    check_unicode(text)
    with errors_caught():
        found = tokenizer.encode(text)
    check_ids(found.ids, vocabulary_size)
    special = [bool(flag) for flag in found.special_tokens_mask]
    composing = type(tokenizer.model).__name__ == "Unigram"
    offsets = with_marks(text, found.offsets) if composing else found.offsets
    # For an unknown token, a Unigram tokenizer gives the text that it replaces.
    pieces = [
        tokenizer.id_to_token(id) if id == unknown else piece for id, piece in zip(found.ids, found.tokens, strict=True)
    ]
    return tokens_of(text, found.ids, pieces, offsets, special, unknown)


def with_marks(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Offsets that take in the accents after a token's last letter.

    A tokenizer that composes a letter and its accents into one character places it at the letter alone.

    >>> with_marks("ma\u0302m", [(0, 2), (3, 4)])
    [(0, 3), (3, 4)]
    """
    if unicodedata.is_normalized("NFC", text):
        return list(offsets)
    taken = {first for first, last in offsets if first < last}
    found = []
    for first, last in offsets:
        while first < last < len(text) and last not in taken and _joins(text[last]):
            last += 1
        found.append((first, last))
    return found


def _joins(character: str) -> bool:
    """Whether a character is composed with the letter before it: an accent, or a vowel or end of a Korean syllable."""
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"


@contextmanager
def errors_caught() -> Iterator[None]:
    """Turn what the library raises while it tokenizes into a `ModelError`."""
    try:
        with panics_caught():
            yield
    except Exception as error:  # the library raises bare Exception
        reason = " ".join(str(error).split())
        line = worded("tokenizer.json can't cut this text into tokens ({reason}); get the file again", reason=reason)
        raise ModelError(line) from None


def check_ids(ids: Sequence[int], vocabulary_size: int) -> None:
    """Check a text's ids against the vocabulary; raises `ModelError`."""
    highest = max(ids, default=0)
    if highest >= vocabulary_size:
        raise ModelError(
            worded(
                "tokenizer.json must have ids below config.json's vocabulary size, {vocabulary_size}, got "
                "{highest}; the two files must be of one model",
                vocabulary_size=vocabulary_size,
                highest=highest,
            )
        )


def tokens_of(
    text: str,
    ids: Sequence[int],
    pieces: Sequence[str],
    offsets: Sequence[tuple[int, int]],
    special: Sequence[bool],
    unknown: int | None,
) -> Tokens:
    """The tokens of a text; tokens with the id `unknown` replace text that the vocabulary can't express."""
    places = [
        place
        for place, (first, last) in enumerate(offsets)
        # If the text itself contains [UNK], that token isn't unknown.
        if ids[place] == unknown and not special[place] and text[first:last].strip() not in ("", pieces[place])
    ]
    return Tokens(text, list(ids), list(pieces), list(offsets), list(special), tuple(places))


def unknown_id(tokenizer: Any) -> int | None:
    """The id of a tokenizer's unknown token; None if it has none. With a large Unigram vocabulary it takes .2 s."""
    name = getattr(tokenizer.model, "unk_token", None)
    if name is None and type(tokenizer.model).__name__ == "Unigram":
        # This model has an index into its vocabulary instead, which the library exposes only in JSON.
        given = json.loads(tokenizer.to_str())["model"].get("unk_id")
        return None if given is None else int(given)
    found = None if name is None else tokenizer.token_to_id(name)
    return None if found is None else int(found)


@contextmanager
def panics_caught() -> Iterator[None]:
    """Turn the library's panics into errors of one line, without its output on stderr.

    A regular expression that backtracks too long, such as (a+)+$, makes it panic: a BaseException, and a page on
    stderr. Other output to stderr appears after the block.

    Raises:
        ModelError: if the library panicked.
    """
    with _REDIRECTED, tempfile.TemporaryFile() as paper:
        if sys.stderr is not None:
            sys.stderr.flush()
        try:
            before = os.dup(2)
        except OSError:  # no stderr at all
            before = -1
        panicked = False
        try:
            if before >= 0:
                os.dup2(paper.fileno(), 2)
            yield
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            panicked = True
            raise ModelError(" ".join(str(error).split())) from None
        finally:
            if before >= 0:
                os.dup2(before, 2)
                os.close(before)
                if not panicked and paper.seek(0, os.SEEK_END):
                    paper.seek(0)
                    os.write(2, paper.read())

"""Letters that a model of letters knows."""

from __future__ import annotations

from collections.abc import Sequence

from eyeline.models import Model, ModelError, Tokens
from eyeline.words import worded


def check_letters(tokens: Tokens, model: Model, room: int, name: str) -> Tokens:
    """Return the tokens, checked: every letter is one that the model knows, and there are at most `room`.

    Raises:
        ModelError: if a letter isn't known, or there are too many; `name` is the argument.
    """
    if tokens.unknown:
        first, last = tokens.offsets[tokens.unknown[0]]
        known = sorted(letter for letter in model.tokenizer.get_vocab() if len(letter) == 1)
        raise ModelError(
            worded(
                "{name} must have letters that {model} knows ({letters}), got {letter!r} at {place}; write it in these",
                name=name,
                model=model.name,
                letters=_ranges(known),
                letter=tokens.text[first:last],
                place=first,
            )
        )
    if len(tokens) > room:
        raise ModelError(
            worded(
                "{name} must have at most {room} letters for {model}, got {count}; make it shorter",
                name=name,
                room=room,
                model=model.name,
                count=len(tokens),
            )
        )
    return tokens


def _ranges(letters: Sequence[str]) -> str:
    """Letters in order, with those in a row as a range.

    >>> _ranges([" ", ",", "A", "B", "C", "z"])
    'space , A-C z'
    """
    runs: list[list[str]] = []
    for letter in letters:
        if runs and ord(letter) == ord(runs[-1][-1]) + 1 and (runs[-1][-1] + letter).isalnum():
            runs[-1].append(letter)
        else:
            runs.append([letter])
    named = [f"{run[0]}-{run[-1]}" if len(run) > 2 else " ".join(run) for run in runs]
    return " ".join("space" if name == " " else name for name in named)

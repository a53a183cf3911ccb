"""Words of a text as positions, for edits: found as `--token` finds them."""

from __future__ import annotations

from collections.abc import Sequence

from eyeline.edits import EditError
from eyeline.models import Tokens
from eyeline.models.units import units_of
from eyeline.traces.errors import QuestionError
from eyeline.traces.word_search import RepeatedWordError, find
from eyeline.words import worded


def word_positions(word: str, tokens: Tokens, name: str) -> list[int]:
    """The positions of a word's tokens: of one word, several in a row, or a special token.

    Args:
        word: the word.
        tokens: the text's tokens.
        name: the argument that has the word, for errors.

    Raises:
        EditError: if the word isn't there, or is there more than once.
    """
    units = units_of(tokens, pieces=False)
    try:
        return find(word, None, units, tokens.text, special=True).tokens(units)
    except RepeatedWordError as error:
        places = [_range([position for unit in run for position in units[unit].tokens]) for run in error.runs[:6]]
        advice = worded("say which by its position: {places}", places=", ".join(places))
        raise EditError(f"{name}{error.repeated.removeprefix('token')}; {advice}") from None
    except QuestionError as error:
        raise EditError(f"{name}{str(error).removeprefix('token')}") from None


def _range(positions: Sequence[int]) -> str:
    first, last = positions[0], positions[-1]
    return f"#{first}" if first == last else f"#{first}-{last}"

"""A rollout as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.answers.documents import aside, looks, matrix_entry, model_entry, token_entries, unit_entries
from eyeline.version import VERSION
from eyeline.views import document

if TYPE_CHECKING:
    from eyeline.answers.rolled import Rollout

SCHEMA = "eyeline.rollout/1"


def rollout_document(found: Rollout) -> document.Rollout:
    """A rollout as plain data."""
    units, shown, one = found.units, found.shown, found.token is not None
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "model": model_entry(found.model, found.sizes),
        "text": found.tokens.text,
        "question": {
            "token": found.token.text if found.token else None,
            "nth": found.token.nth if found.token else None,
            "units": list(found.token.units) if found.token else [],
            "layer": found.layer,
            "unit": "piece" if found.pieces else "word",
            "special": found.special,
        },
        "tokens": token_entries(found.tokens),
        "units": unit_entries(units, shown),
        "shown": list(shown),
        "made_of": looks(found.by_unit, units, shown) if one else None,
        "set_aside": aside(found.by_unit, shown) if one else None,
        "matrix": None if one else matrix_entry(found.by_unit, units, shown),
    }

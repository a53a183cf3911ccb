"""Explanations and comparisons as plain data and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eyeline.answers import numbers
from eyeline.models.units import Unit, units_of
from eyeline.version import VERSION
from eyeline.views import document

if TYPE_CHECKING:
    from eyeline.answers.comparison import Comparison
    from eyeline.answers.explanation import Explanation
    from eyeline.answers.generated import Generated
    from eyeline.answers.running import HeadSteps, RunNumbers
    from eyeline.models import Tokens

Document = document.Explanation | document.Comparison | document.Rollout | document.Heads
EXPLAIN, COMPARE = "eyeline.explain/1", "eyeline.compare/1"
# Legal in JSON's strings, yet no terminal should get them raw.
_RAW = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def number(value: float) -> float:
    """A number with the seven digits that float32 holds; the rest would differ from machine to machine."""
    return float(f"{value:.7g}")


def rounded(values: Any) -> list[Any]:
    """An array as lists of such numbers."""
    return [rounded(row) if np.ndim(row) else number(row) for row in values]


def model_entry(name: str, sizes: Mapping[str, int]) -> document.ModelEntry:
    """Which model, and its sizes."""
    return {
        "name": name,
        "layers": sizes["layers"],
        "heads": sizes["heads"],
        "key_heads": sizes["key_heads"],
        "head_dim": sizes["head_dim"],
        "positions": sizes["positions"],
    }


def token_entries(tokens: Tokens) -> list[document.Token]:
    """Every token, with its place in the text."""
    entries: list[document.Token] = []
    for index, (first, last) in enumerate(tokens.offsets):
        special = tokens.special[index]
        entries.append(
            {
                "index": index,
                "id": tokens.ids[index],
                "piece": tokens.pieces[index],
                "text": tokens.pieces[index] if special else tokens.text[first:last],
                "start": None if special else first,
                "end": None if special else last,
                "special": special,
                "word": tokens.words[index],
            }
        )
    return entries


def unit_entries(units: Sequence[Unit], shown: Sequence[int]) -> list[document.Unit]:
    """Every unit, and whether it was set aside."""
    return [
        {
            "index": index,
            "text": unit.text,
            "start": unit.span[0] if unit.span else None,
            "end": unit.span[1] if unit.span else None,
            "tokens": list(unit.tokens),
            "set_aside": index not in shown,
            "joins_before": unit.joins[0],
            "joins_after": unit.joins[1],
        }
        for index, unit in enumerate(units)
    ]


def looks(
    weights: numbers.Array, units: Sequence[Unit], shown: Sequence[int], hidden: Any = None
) -> list[document.Look]:
    """What is given to each unit, and the share of those that are shown; `hidden` says which may not be looked at."""
    share = dict(zip(shown, numbers.shares(weights, shown), strict=True))
    return [
        {
            "unit": index,
            "text": unit.text,
            "weight": number(weights[index]),
            "share": number(share[index]) if index in share else None,
            "hidden": hidden is not None and bool(hidden[index]),
        }
        for index, unit in enumerate(units)
    ]


def matrix_entry(
    weights: numbers.Array, units: Sequence[Unit], shown: Sequence[int], hidden: Any = None
) -> document.Matrix:
    """What each unit gives to each, and what each that is shown gets of the others that are."""
    share = numbers.shares(weights[list(shown)], shown)
    received = [
        document.Received(unit=place, text=units[place].text, share=number(value))
        for place, value in zip(shown, share.mean(axis=0), strict=True)
    ]
    return {
        "weights": rounded(weights),
        "shares": rounded(share),
        "hidden": None if hidden is None else hidden[np.ix_(shown, shown)].tolist(),
        "received": received,
    }


def aside(weights: numbers.Array, shown: Sequence[int]) -> float:
    """What is given to the units that are set aside."""
    return number(float(np.delete(weights, list(shown)).sum()))


def cosine_entries(cosines: Iterable[float]) -> list[document.LayerCosine]:
    """Cosines from layer 0 on."""
    return [{"layer": layer, "cosine": number(value)} for layer, value in enumerate(cosines)]


def explanation_document(found: Explanation) -> document.Explanation:
    """An explanation as plain data."""
    return {
        "schema": EXPLAIN,
        "version": VERSION,
        "model": model_entry(found.model, found.sizes),
        "causal": found.causal,
        "text": found.tokens.text,
        "question": {
            "token": found.token.text if found.token else None,
            "nth": found.token.nth if found.token else None,
            "units": list(found.token.units) if found.token else [],
            "layer": found.where.layer,
            "head": found.where.head,
            "unit": "piece" if found.pieces else "word",
            "special": found.special,
            "mask": found.mask,
        },
        "tokens": token_entries(found.tokens),
        "units": unit_entries(found.units, found.shown),
        "shown": list(found.shown),
        "runs": [_run(run, found) for run in found.runs],
        "generated": None if found.generated is None else generated_entry(found, found.generated),
    }


def _run(run: RunNumbers, found: Explanation) -> document.Run:
    units, shown = found.units, found.shown
    hidden = None
    if run.hidden is not None and found.token is not None:
        hidden = run.hidden[list(found.token.units)].all(axis=0)
    return {
        "name": run.name,
        "mask": run.mask,
        "scale": number(run.scale),
        "looks_at": None if run.weights is None else looks(run.weights, units, shown, hidden),
        "set_aside": None if run.weights is None else aside(run.weights, shown),
        "hardest_heads": [
            {"layer": h.layer, "head": h.head, "unit": h.unit, "text": units[h.unit].text, "weight": number(h.weight)}
            for h in run.hardest
        ]
        or None,
        "moved": None if run.moved is None else cosine_entries(run.moved),
        "steps": None if run.steps is None else _steps(run.steps, token_entries(found.tokens)),
        "matrix": matrix_entry(run.matrix, units, shown, run.hidden),
    }


def _steps(head: HeadSteps, tokens: Sequence[document.Token]) -> document.Steps:
    all_steps, row = head.steps, head.token
    lengths = np.linalg.norm(all_steps.v, axis=-1)
    weights = all_steps.weights[row]
    return {
        "layer": head.layer,
        "head": head.head,
        "key_head": head.key_head,
        "chosen": head.chosen,
        "token": row,
        "text": tokens[row]["text"],
        "query_length": number(float(np.linalg.norm(all_steps.q[row]))),
        "head_dim": all_steps.q.shape[-1],
        "scale": number(all_steps.scale),
        "keys": [
            {
                "token": index,
                "text": token["text"],
                "score": number(all_steps.scores[row, index]),
                "scaled": number(all_steps.scaled[row, index]),
                "hidden": bool(np.isneginf(all_steps.masked[row, index])),
                "weight": number(weights[index]),
                "value_length": number(lengths[index]),
                "contribution_length": number(weights[index] * lengths[index]),
            }
            for index, token in enumerate(tokens)
        ],
        "weight_sum": number(float(weights.sum())),
        "output": rounded(all_steps.output[row]),
        "output_length": number(float(np.linalg.norm(all_steps.output[row]))),
    }


def generated_entry(found: Explanation, new: Generated) -> document.Generated:
    """How the text went on, and whom the token that chose each new one looked at."""
    pieces = {unit.tokens[0]: unit for unit in units_of(found.tokens, pieces=True)}

    def piece(token: int) -> document.Piece:
        unit = pieces[token]
        return {"token": token, "text": unit.text, "joins_before": unit.joins[0], "joins_after": unit.joins[1]}

    places = range(len(found.units))
    behind = [min(unit.tokens) for unit in found.units]
    return {
        "count": new.count,
        "temperature": new.temperature,
        "top_p": new.top_p,
        "seed": new.seed,
        "prompt_tokens": new.prompt_tokens,
        "prompt_end": new.prompt_end,
        "ended": new.ended,
        "steps": [
            {
                "new": piece(step.token),
                "probability": number(step.probability),
                "by": piece(step.token - 1),
                "looks_at": looks(
                    step.weights, found.units, found.shown, [behind[place] >= step.token for place in places]
                ),
                "set_aside": aside(step.weights, found.shown),
            }
            for step in new.steps
        ],
    }


def comparison_document(found: Comparison) -> document.Comparison:
    """A comparison as plain data."""
    return {
        "schema": COMPARE,
        "version": VERSION,
        "model": model_entry(found.model, found.sizes),
        "causal": found.causal,
        "question": {
            "token": found.token,
            "layer": found.where.layer,
            "head": found.where.head,
            "special": found.special,
        },
        "cosines": cosine_entries(found.cosines),
        "sides": [
            {
                "name": side.name,
                "text": side.tokens.text,
                "token": side.found.text,
                "nth": side.found.nth,
                "token_units": list(side.found.units),
                "tokens": token_entries(side.tokens),
                "units": unit_entries(side.units, side.shown),
                "shown": list(side.shown),
                "looks_at": looks(side.weights, side.units, side.shown, side.hidden),
                "set_aside": aside(side.weights, side.shown),
            }
            for side in found.sides
        ],
    }


def json_text(found: Document, ascii_only: bool = False) -> str:
    """A document as JSON, one line for each key at the top."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=ascii_only)}" for key, value in found.items()]
    return _RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", "{\n" + ",\n".join(lines) + "\n}")

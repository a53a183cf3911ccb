"""What a host must know to call the module: the records of `params`, and the sizes and formulas that determine them.

    {
      "records": {"STRIDED": {"size": 40, "fields": {"address": [0, "int"], …}}, "forward": …, "product": …, …},
      "enums": {"Half": {"NOT": 0, …}, …},
      "sizes": {"KEY_BLOCK": 128, …},
      "forward": {"derived": …, "panel": …, "shared": …}, "product": formula, "rowwise": formula
    }

A field is its offset in bytes and its type: "int", an int64 (addresses too); "float", a float64; or the name of a
record. The formulas are those of `workspaces`, as lists: a number, a name, or an operator and its operands. They are
evaluated in order; each part of a workspace begins at the next multiple of `LINE` bytes.
"""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import numpy as np

from eyeline.kernels import products, rowwise, run, workspaces
from eyeline.kernels.compiled import call_records, params
from eyeline.kernels.compiled.call_records import FLOAT, INT
from eyeline.kernels.compiled.product_params import INPUT_BLOCK, PRODUCT, PRODUCT_TILES, ROWS, Activation
from eyeline.kernels.compiled.programs import KEY_BLOCK, PANEL_AT_MOST
from eyeline.kernels.compiled.rowwise_params import ROWWISE, RowPass
from eyeline.kernels.formulas import Formula
from eyeline.kernels.layouts import LINE
from eyeline.kernels.machine import WEBASSEMBLY

_RECORDS: dict[str, np.dtype[Any]] = {
    "STRIDED": call_records.STRIDED,
    "MASK": call_records.MASK,
    "STEP": call_records.STEP,
    "FACTOR": call_records.FACTOR,
    "CUTS": call_records.CUTS,
    "DROPOUT": call_records.DROPOUT,
    "RECTANGLE": call_records.RECTANGLE,
    "PRIMITIVES": params.PRIMITIVES,
    "PANEL_LAYOUT": params.PANEL_LAYOUT,
    "PANEL": params.PANEL,
    "WORKSPACE": params.WORKSPACE["forward"],
    "ROWS": ROWS,
    "forward": params.PARAMS["forward"],
    "product": PRODUCT,
    "rowwise": ROWWISE,
}
_ENUMS: tuple[type[IntEnum], ...] = (call_records.StepKind, call_records.Half, Activation, RowPass)


def described() -> dict[str, Any]:
    """All of `records.json`.

    >>> described()["records"]["STRIDED"]["fields"]["head"]
    [16, 'int']
    """
    vectors, height, _ = PRODUCT_TILES[WEBASSEMBLY.lanes("float32")]
    return {
        "records": {name: _record(kind) for name, kind in _RECORDS.items()},
        "enums": {kind.__name__: {one.name: int(one) for one in kind} for kind in _ENUMS},
        "sizes": {
            "LINE": LINE,
            "KEY_BLOCK": KEY_BLOCK,
            "PANEL": WEBASSEMBLY.panel("float32"),
            "TILE_ROWS": WEBASSEMBLY.rows,
            "PANEL_AT_MOST": PANEL_AT_MOST,
            "QUERIES_TOGETHER": run.QUERIES_TOGETHER,
            "KEPT_TOGETHER": run.KEPT_TOGETHER,
            "PRODUCT_LINE": vectors * WEBASSEMBLY.lanes("float32"),
            "PRODUCT_HEIGHT": height,
            "INPUT_BLOCK": INPUT_BLOCK,
            "ROW_BLOCK": products.ROW_BLOCK,
            "PANEL_BLOCK": products.PANEL_BLOCK,
            "NUMBERS_PER_TASK": rowwise.NUMBERS_PER_TASK,
        },
        "forward": {
            "derived": _formulas(workspaces.DERIVED),
            "panel": _formulas(workspaces.PANEL_PARTS),
            "shared": _formulas(workspaces.SHARED_PARTS),
        },
        "product": _formula(workspaces.PRODUCT_WORKSPACE),
        "rowwise": _formula(workspaces.ROWWISE_WORKSPACE),
    }


def written() -> str:
    """The text of `records.json`.

    >>> json.loads(written())["sizes"]["KEY_BLOCK"]
    128
    """
    groups = []
    for group, parts in described().items():
        lines = parts.items() if isinstance(parts, dict) else ()
        inside = ",\n".join(f'    "{name}": {json.dumps(value)}' for name, value in lines)
        groups.append(f'  "{group}": {{\n{inside}\n  }}' if lines else f'  "{group}": {json.dumps(parts)}')
    return "{\n" + ",\n".join(groups) + "\n}\n"


def _record(kind: np.dtype[Any]) -> dict[str, Any]:
    fields: dict[str, Any] = dict(kind.fields or {})
    return {"size": kind.itemsize, "fields": {name: [place[1], _type(place[0])] for name, place in fields.items()}}


def _type(kind: np.dtype[Any]) -> str:
    if kind == INT:
        return "int"
    return "float" if kind == FLOAT else next(name for name, record in _RECORDS.items() if record == kind)


def _formulas(parts: dict[str, Formula]) -> dict[str, Any]:
    return {name: _formula(formula) for name, formula in parts.items()}


def _formula(formula: Formula) -> Any:
    return [_formula(operand) for operand in formula] if isinstance(formula, tuple) else formula

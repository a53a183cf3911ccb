"""The sizes of the parts of a thread's workspace in the forward pass, as formulas (`formulas`) of a call's numbers.

The numbers of a call:

- `D`, `E`: the widths of a key and a value; `size`: the bytes of a number.
- `panel`, `panels`: the queries in a panel, and the panels in a block; `rows`: the keys in a tile of scores.
- `half`: 1 if q, k and v have 16 bits, else 0.
- `intervals`: of the mask; `steps`: of the scores; `cuts`: 1 if pairs are hidden, else 0; `factors`: of weights.
- `primitives`: 1 if any is requested, else 0; then `keys`, `select`, `bins`, `ranges` and `grid_columns`, and 1 or 0
  for `grid_sums`, `grid_maxima`, `column_sums` and `column_maxima`; else all 0.
- `reach`: the most keys that a panel needs, from the first block that it needs on, in whole blocks; 0 without
  primitives.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from eyeline.kernels.compiled.params import VISIT
from eyeline.kernels.compiled.programs import FEW_BEST, KEY_BLOCK
from eyeline.kernels.formulas import Formula, evaluated, rounded_up
from eyeline.kernels.layouts import LINE, Layout, laid_out

#: Numbers that follow from a call's, in order.
DERIVED: dict[str, Formula] = {
    "line": ("*", "panel", "size"),
    "stepped": ("min", "steps", 1),
    "changed": ("min", "factors", 1),
    "selects": ("min", "select", 1),
    "best": ("*", "selects", ("max", "select", FEW_BEST)),
    "blocks": ("*", "primitives", ("max", ("//", "reach", KEY_BLOCK), 1)),
}
#: The parts of a panel for its rows' hidden pairs and factors.
CHANGES: dict[str, Formula] = {
    "cut_kinds": ("*", "cuts", "panel", 8),
    "cut_rows": ("*", "cuts", "panel", "panel"),
    "factor_numbers": ("*", "factors", 8),
    "factors": ("*", "changed", ("+", 1, ("*", 2, "factors")), "line"),
}
#: The parts of a panel, in order.
PANEL_PARTS: dict[str, Formula] = {
    "q": ("*", "D", "line"),
    "acc": ("*", "E", "line"),
    "m": "line",
    "l": "line",
    "bounds": ("*", "intervals", 2, "panel", 4),
    "lots": ("*", 2, "panel", 4),
    **CHANGES,
    "scores": ("*", "primitives", ("+", "reach", KEY_BLOCK, "rows"), "line"),
    "visits": ("*", "blocks", VISIT.itemsize),
    "peaks": ("*", "selects", "blocks", "line"),
}
#: The parts of the workspace after its panels, in order.
SHARED_PARTS: dict[str, Formula] = {
    "P": ("*", ("+", KEY_BLOCK, "rows"), "line"),
    "flags": ("*", KEY_BLOCK, "panel"),
    "biases": ("*", "stepped", KEY_BLOCK, "line"),
    "block_m": "line",
    "block_l": "line",
    "shift": "line",
    "alpha": "line",
    "inverse_l": "line",
    "keys": ("*", "half", KEY_BLOCK, "D", "size"),
    "values": ("*", "half", KEY_BLOCK, "E", "size"),
    "rows": ("*", ("+", 1, "half"), "panel", ("max", "D", "E"), "size"),
    "threshold": ("*", "primitives", "line"),
    "best": ("*", "best", "line"),
    "best_keys": ("*", "best", "panel", 4),
    "row_log_weights": ("*", "primitives", "line"),
    "row_weights": ("*", "primitives", "line"),
    "row_distances": ("*", "primitives", "line"),
    "row_bins": ("*", "bins", "line"),
    "row_offsets": ("*", "ranges", "line"),
    "grid_sums": ("*", "grid_sums", "grid_columns", "line"),
    "grid_maxima": ("*", "grid_maxima", "grid_columns", "line"),
    "column_sums": ("*", "column_sums", "keys", 8),
    "column_maxima": ("*", "column_maxima", "keys", "size"),
}
#: The workspace of a product: the addresses of a task's rows, then their sums. `row_block` is the rows of a task,
#: `height` those of a tile, `line` the outputs of a panel.
PRODUCT_WORKSPACE: Formula = (
    "+",
    rounded_up(("*", 8, ("+", "row_block", "height")), LINE),
    ("*", 4, "line", ("+", "row_block", "height")),
)
#: The workspace of a row pass: one row, of as many numbers as its heads have together.
ROWWISE_WORKSPACE: Formula = ("*", 4, "columns", "heads")


class CallNumbers(NamedTuple):
    """The numbers of a call, as above."""

    D: int
    E: int
    size: int
    panel: int
    panels: int
    rows: int
    half: int
    intervals: int
    steps: int
    cuts: int
    factors: int
    reach: int
    primitives: int = 0
    keys: int = 0
    select: int = 0
    bins: int = 0
    ranges: int = 0
    grid_columns: int = 0
    grid_sums: int = 0
    grid_maxima: int = 0
    column_sums: int = 0
    column_maxima: int = 0


@lru_cache(maxsize=64)
def forward_layout(call: CallNumbers) -> Layout:
    """A thread's workspace in the forward pass."""
    numbers = call._asdict()
    for name, formula in DERIVED.items():
        numbers[name] = evaluated(formula, numbers)
    panel, shared = (
        {name: evaluated(formula, numbers) for name, formula in parts.items()} for parts in (PANEL_PARTS, SHARED_PARTS)
    )
    return laid_out("forward", shared, call.panels, panel)


def changes_in_panel(cuts: bool, factors: int, panel: int, line: int) -> dict[str, int]:
    """Sizes in bytes of a panel's parts for cut pairs, if there are any, and so many factors, with `panel` queries and
    lines of `line` bytes."""
    numbers = {"cuts": int(cuts), "factors": factors, "changed": min(factors, 1), "panel": panel, "line": line}
    return {name: evaluated(formula, numbers) for name, formula in CHANGES.items()}


def product_workspace(row_block: int, height: int, line: int) -> int:
    """The bytes of a product's workspace."""
    return evaluated(PRODUCT_WORKSPACE, {"row_block": row_block, "height": height, "line": line})


@lru_cache(maxsize=64)
def rowwise_workspace(columns: int, heads: int) -> int:
    """The bytes of a row pass's workspace."""
    return evaluated(ROWWISE_WORKSPACE, {"columns": columns, "heads": heads})

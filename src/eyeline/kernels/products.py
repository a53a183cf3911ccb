"""Products of float32 rows with a packed matrix, and what follows them in a Transformer's layer: bias, activation, gate
and residual, in one pass."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import threads
from eyeline.kernels.compiled.product_params import (
    PRODUCT,
    PRODUCT_TILES,
    Activation,
)
from eyeline.kernels.forms import address_of
from eyeline.kernels.machine import target
from eyeline.kernels.matrix_parts import STORED, checked_parts
from eyeline.kernels.row_arrays import NO_ROWS, Array, PlacedRows, check, check_apart, given_rows, levels, written_rows
from eyeline.kernels.run_tasks import run_tasks
from eyeline.kernels.workspaces import product_workspace
from eyeline.words import worded

#: The activation functions, by name.
ACTIVATIONS = {
    None: Activation.NONE,
    "relu": Activation.RELU,
    "gelu": Activation.GELU,
    "gelu_tanh": Activation.GELU_TANH,
    "silu": Activation.SILU,
}
#: The most rows per task, a multiple of the tile's height, and the most panels.
ROW_BLOCK, PANEL_BLOCK = 96, 8
#: The number of tasks per thread, so that none waits long for another.
TASKS_PER_THREAD = 64
#: The bytes of weights, and the number of multiply-adds, for which waking threads pays.
WORTH_THREADS_BYTES, WORTH_THREADS_COST = 1 << 18, 1 << 20
#: The kinds of calls whose plans a matrix keeps.
KEPT_PLANS = 64
_PLACES = PRODUCT.fields
assert _PLACES is not None
_ROWS_AT, _SEGMENT_AT, _ACTIVATION_AT = _PLACES["x"][1], _PLACES["segment"][1], _PLACES["activation"][1]
_fill_rows = struct.Struct("=9q").pack_into
_fill_two = struct.Struct("=2q").pack_into
_fill_one = struct.Struct("=q").pack_into


class _Plan(NamedTuple):
    """What all calls on as many rows have in common: the params, the workspace's bytes, a task's multiply-adds, and the
    number of threads."""

    params: bytes
    workspace: int
    cost: int
    workers: int


class PackedMatrix:
    """A matrix W of weights (outputs, inputs) and its bias, packed for products with rows.

    The weights stay in their stored type, and are widened to float32 in the kernel. The sums are float32; each is over
    blocks of 128 inputs, in order, so a row's bits depend on that row alone, not on the other rows nor on threads.

    Args:
        parts: one matrix or several whose outputs follow one another, each (outputs, inputs): float32, float16, or
            uint16 for the bits of bfloat16.
        biases: for each of these a float32 array (outputs,), or None.

    Attributes:
        inputs, outputs: the widths of a row before and after.

    Raises:
        ValueError, TypeError: if shapes or types don't fit.

    >>> W = PackedMatrix([np.array([[1, 2], [3, 4], [5, 6]], np.float16)], [np.array([0, 0, 1], np.float32)])
    >>> W.times(np.array([[1, 1], [1, 0]], np.float32))
    array([[ 3.,  7., 12.],
           [ 1.,  3.,  6.]], dtype=float32)
    """

    def __init__(self, parts: Sequence[NDArray[Any]], biases: Sequence[Array | None] | None = None) -> None:
        columns, total = checked_parts(parts, biases)
        self._pack(columns, total, sum(len(part) for part in parts), gated=False)

    @classmethod
    def gated(
        cls, gate: NDArray[Any], up: NDArray[Any], gate_bias: Array | None = None, up_bias: Array | None = None
    ) -> PackedMatrix:
        """The two matrices of a gated feed-forward layer, each (outputs, inputs): `times` then gives activation(x·gateᵀ
        + gate_bias) · (x·upᵀ + up_bias).

        >>> both = PackedMatrix.gated(np.ones((1, 2), np.float32), np.full((1, 2), 3, np.float32))
        >>> both.times(np.ones((1, 2), np.float32), activation="relu")
        array([[12.]], dtype=float32)
        """
        if gate.shape != up.shape:
            raise ValueError(
                worded(
                    "up must have gate's shape {shape}, got {got}; give two matrices of one layer",
                    shape=gate.shape,
                    got=up.shape,
                )
            )
        made = cls.__new__(cls)
        columns, total = checked_parts([gate, up], [gate_bias, up_bias])
        made._pack(columns, total, len(gate), gated=True)
        return made

    def _pack(self, parts: list[NDArray[Any]], biases: list[Array], outputs: int, *, gated: bool) -> None:
        lanes = target().lanes("float32")
        line = PRODUCT_TILES[lanes][0] * lanes
        self.inputs, self.outputs, self._gated = parts[0].shape[1], outputs, gated
        self._line, self._panels = line, -(-outputs // (line // 2 if gated else line))
        self._weights = _aligned((self._panels, self.inputs, line), parts[0].dtype)
        self._bias = np.empty((self._panels, line), np.float32)
        first = 0
        for side, (part, bias) in enumerate(zip(parts, biases, strict=True)):
            lanes_of_it = slice(side * line // 2, (side + 1) * line // 2) if gated else slice(None)
            _spread(part, self._weights[:, :, lanes_of_it], first)
            _spread(bias[:, None], self._bias[:, None, lanes_of_it], first)
            first += 0 if gated else len(part)
        self._plans: dict[tuple[int, int, int], _Plan] = {}

    @property
    def nbytes(self) -> int:
        """The bytes of memory that it takes."""
        return self._weights.nbytes + self._bias.nbytes

    def times(
        self, x: Array, *, activation: str | None = None, residual: Array | None = None, out: Array | None = None
    ) -> Array:
        """activation(x·Wᵀ + bias) + residual, for each row of x.

        Args:
            x: float32 (..., inputs). Read in place if the numbers of a row lie side by side.
            activation: None, "relu", "gelu" (by erf), "gelu_tanh" or "silu".
            residual: float32 (..., outputs), added last; may be `out`.
            out: the memory for the result, float32 (..., outputs), the numbers of a row side by side.

        Returns:
            float32 (..., outputs): `out`, if it was given.
        """
        if not isinstance(x, np.ndarray) or x.ndim == 0:
            check("x", x, (self.inputs,))
        shape = x.shape
        rows = given_rows("x", x, (*shape[:-1], self.inputs))
        return self._times(rows, (max(self.inputs, 1), 0), (*shape[:-1], self.outputs), activation, residual, out)

    def times_heads(
        self, x: Array, *, activation: str | None = None, residual: Array | None = None, out: Array | None = None
    ) -> Array:
        """As `times`, for the rows of an attention's output x (B, H, N, D), whose heads are joined: H·D = inputs.

        It is read in place if the D numbers lie side by side and heads lie equally far apart.

        Returns:
            float32 (B, N, outputs).
        """
        if not isinstance(x, np.ndarray) or x.ndim != 4 or x.shape[1] * x.shape[3] != self.inputs:
            got = x.shape if isinstance(x, np.ndarray) else type(x).__name__
            raise ValueError(
                worded(
                    "x must have shape (B, H, N, D), H·D = {inputs}, got {got}; give attention's output",
                    inputs=self.inputs,
                    got=got,
                )
            )
        B, _, N, D = x.shape
        check("x", x, x.shape)
        if (D > 1 and x.strides[3] != 4) or not x.flags.aligned:
            x = np.ascontiguousarray(x)
        batch, head, token, _ = x.strides
        rows = PlacedRows(address_of(x), batch, token, x)
        return self._times(rows, (max(D, 1), head - 4 * D), (B, N, self.outputs), activation, residual, out)

    def _times(
        self,
        x: PlacedRows,
        segment: tuple[int, int],
        shape: tuple[int, ...],
        activation: str | None,
        residual: Array | None,
        out: Array | None,
    ) -> Array:
        function = ACTIVATIONS.get(activation)
        if function is None:
            names = ", ".join(str(name) for name in ACTIVATIONS)
            raise ValueError(
                worded(
                    "activation must be one of {names}, got {activation!r}; apply another one yourself",
                    names=names,
                    activation=activation,
                )
            )
        added = NO_ROWS if residual is None else given_rows("residual", residual, shape)
        if out is None:
            y = np.empty(shape, np.float32)
        else:
            y = out
            if x.array is not None:
                check_apart("out", y, "x", x.array)
            if residual is not None:
                check_apart("out", y, "residual", residual, same=True)
        to = written_rows("out", y, shape)
        if y.size == 0:
            return y
        outer, inner = levels(shape)
        plan = self._plan(outer, inner)
        params = bytearray(plan.params)
        _fill_rows(params, _ROWS_AT, *x[:3], *added[:3], *to[:3])
        _fill_two(params, _SEGMENT_AT, *segment)
        _fill_one(params, _ACTIVATION_AT, function)
        run_tasks("product", params, plan.workspace, plan.cost, plan.workers, (x, added, to, self))
        return y

    def _plan(self, outer: int, inner: int) -> _Plan:
        allowed = threads.get_threads()
        kind = outer, inner, allowed
        plan = self._plans.get(kind)
        if plan is None:
            if len(self._plans) >= KEPT_PLANS:
                self._plans.clear()
            plan = self._plans[kind] = self._made_plan(outer, inner, allowed)
        return plan

    def _made_plan(self, outer: int, inner: int, allowed: int) -> _Plan:
        lanes = target().lanes("float32")
        height = PRODUCT_TILES[lanes][1]
        rows, panels, line = outer * inner, self._panels, self._line
        whole = rows * panels * line * max(self.inputs, 1)
        worth = whole > WORTH_THREADS_COST or self._weights.nbytes > WORTH_THREADS_BYTES
        workers = allowed if worth else 1
        row_blocks = -(-rows // ROW_BLOCK)
        row_block = -(-rows // row_blocks)
        if row_blocks > 1:
            row_block = -(-row_block // height) * height
            row_blocks = -(-rows // row_block)
        panel_block = max(1, min(PANEL_BLOCK, panels * row_blocks // (workers * TASKS_PER_THREAD)))
        tasks = row_blocks * -(-panels // panel_block)
        record = np.zeros((), PRODUCT)
        record["tasks"], record["rows"], record["together"] = tasks, rows, inner
        record["inputs"], record["outputs"], record["gated"] = self.inputs, self.outputs, self._gated
        record["row_block"], record["row_blocks"] = row_block, row_blocks
        record["panels"], record["panel_block"] = panels, panel_block
        record["weights"], record["bias"] = self._weights.ctypes.data, self._bias.ctypes.data
        record["stored"] = STORED[self._weights.dtype]
        workspace = product_workspace(row_block, height, line)
        return _Plan(record.tobytes(), workspace, row_block * panel_block * line * self.inputs, min(workers, tasks))


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An empty array on a cache line."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + size].view(dtype).reshape(shape)


def _spread(matrix: NDArray[Any], panels: NDArray[Any], first: int) -> None:
    """Copy a matrix (outputs, inputs) to the outputs `first`, … of panels [panel][inputs][line]; what remains of the
    last panel becomes 0."""
    line = panels.shape[2]
    done = 0
    while done < len(matrix):
        panel, place = divmod(first + done, line)
        count = min(line - place, len(matrix) - done)
        panels[panel, :, place : place + count] = matrix[done : done + count].T
        panels[panel, :, place + count :] = 0
        done += count

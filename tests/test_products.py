"""Products with packed matrices, against float64: shapes, layouts, what follows them, bits, errors."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from comparing import same_at_any_vector_width
from hypothesis import given
from hypothesis import strategies as st

from eyeline.kernels import launch, products, threads
from eyeline.kernels.compiled.product_params import INPUT_BLOCK
from eyeline.kernels.launch import BETWEEN_LOOKS
from eyeline.kernels.products import PackedMatrix

TYPES = ("float32", "float16", "bfloat16")
#: Around the tiles' heights, the vectors, the panels and the blocks of inputs.
ROWS = st.sampled_from((0, 1, 2, 4, 5, 7, 8, 13, 97, 193))
INPUTS = st.sampled_from((0, 1, 2, 31, 127, 128, 129, 257, 384))
OUTPUTS = st.sampled_from((0, 1, 7, 15, 16, 17, 31, 63, 64, 65, 131, 192))


def erfc(x):
    return np.vectorize(math.erfc, otypes=[float])(x)


#: The formulas, in float64.
FORMULAS = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x / 2 * erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def stored(matrix, kind):
    """A float32 matrix in the type in which it is stored; exact for small whole numbers."""
    if kind == "bfloat16":
        return (matrix.view(np.uint32) >> 16).astype(np.uint16)
    return matrix.astype(kind)


def widened(matrix):
    if matrix.dtype == np.uint16:
        return (matrix.astype(np.uint32) << 16).view(np.float32)
    return matrix.astype(np.float32)


def whole_numbers(seed, *shape):
    """Small whole numbers, whose products and sums are exact in float32."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@given(ROWS, INPUTS, OUTPUTS, st.sampled_from(TYPES), st.booleans(), st.booleans())
def test_exact_for_whole_numbers(rows, inputs, outputs, kind, biased, threaded):
    x, w, b = whole_numbers(1, rows, inputs), whole_numbers(2, outputs, inputs), whole_numbers(3, outputs)
    with pytest.MonkeyPatch.context() as patch:
        if threaded:
            patch.setattr(products, "WORTH_THREADS_COST", 0)
        y = PackedMatrix([stored(w, kind)], [b if biased else None]).times(x)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, x @ w.T + (b if biased else 0))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("rows", "inputs"), [(1, 576), (8, 1536), (100, 1000)])
def test_as_exact_as_its_blocks_of_inputs_allow(rows, inputs, kind):
    x, w, b = numbers(1, rows, inputs), stored(numbers(2, 70, inputs), kind), numbers(3, 70)
    exact = x.astype(float) @ widened(w).astype(float).T + b
    # A sum of n terms has n roundings; a sum over blocks only one block's, and one per block.
    roundings = INPUT_BLOCK + inputs // INPUT_BLOCK + 2
    bound = roundings * 2.0**-24 * (np.abs(x).astype(float) @ np.abs(widened(w)).astype(float).T + np.abs(b))
    assert (np.abs(PackedMatrix([w], [b]).times(x) - exact) <= bound).all()


@pytest.mark.parametrize("activation", FORMULAS)
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("outputs", [1, 31, 100])
def test_what_follows_the_product(activation, gated, outputs):
    x, first, second = numbers(1, 9, 40), numbers(2, outputs, 40), numbers(3, outputs, 40)
    b, c, residual = numbers(4, outputs), numbers(5, outputs), numbers(6, 9, outputs)
    matrix = PackedMatrix.gated(first, second, b, c) if gated else PackedMatrix([first], [b])
    assert matrix.outputs == outputs
    exact = FORMULAS[activation](x.astype(float) @ first.T + b)
    if gated:
        exact *= x.astype(float) @ second.T + c
    y = matrix.times(x, activation=activation)
    np.testing.assert_allclose(y, exact, rtol=1e-5, atol=2e-5)
    np.testing.assert_array_equal(matrix.times(x, activation=activation, residual=residual), y + residual)
    out = residual.copy()
    assert matrix.times(x, activation=activation, residual=out, out=out) is out
    np.testing.assert_array_equal(out, y + residual)


def test_gated_matrices_may_lack_a_bias():
    x, gate, up = whole_numbers(1, 3, 9), whole_numbers(2, 70, 9), whole_numbers(3, 70, 9)
    y = PackedMatrix.gated(gate, up).times(x, activation="relu")
    np.testing.assert_array_equal(y, np.maximum(x @ gate.T, 0) * (x @ up.T))


def activated(values, activation):
    """The activation function of each value: a product without inputs is its bias."""
    matrix = PackedMatrix([np.zeros((len(values), 0), np.float32)], [values])
    return matrix.times(np.zeros((1, 0), np.float32), activation=activation)[0]


@pytest.mark.parametrize("activation", ["gelu", "gelu_tanh", "silu"])
def test_activations_are_exact_to_a_rounding_of_x(activation):
    every = np.arange(0, 2**32, 8209, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([every[np.abs(every) < 1e6], np.linspace(-20, 20, 40001, dtype=np.float32)])
    with np.errstate(over="ignore"):
        exact = FORMULAS[activation](x.astype(float))
    # 1.3e-7 is a little more than one rounding to float32; 1e-45 is its least number.
    assert (np.abs(activated(x, activation) - exact) <= 1.3e-7 * np.abs(x) + 1e-45).all()


@pytest.mark.parametrize("activation", [name for name in FORMULAS if name])
def test_activations_of_infinity_and_nan(activation):
    y = activated(np.array([np.inf, -np.inf, np.nan, 3e38, -3e38], np.float32), activation)
    assert y[0] == np.inf
    assert np.isnan(y[2])
    assert y[3] == np.float32(3e38)
    assert y[4] == 0
    # -inf · 0 is NaN by the formula of some; the limit is 0.
    assert y[1] == 0 or np.isnan(y[1])


@pytest.mark.parametrize("kind", TYPES)
def test_several_matrices_stand_side_by_side(kind):
    x = whole_numbers(0, 5, 20)
    parts = [whole_numbers(n, outputs, 20) for n, outputs in enumerate((64, 1, 0, 100, 3))]
    biases = [whole_numbers(9, 64), None, None, whole_numbers(8, 100), None]
    y = PackedMatrix([stored(part, kind) for part in parts], biases).times(x)
    expected = [x @ part.T + (0 if bias is None else bias) for part, bias in zip(parts, biases, strict=True)]
    np.testing.assert_array_equal(y, np.concatenate(expected, axis=1))


LAYOUTS = {
    "transposed": lambda x: np.asfortranarray(x),
    "every other row": lambda x: np.repeat(x, 2, axis=-2)[..., ::2, :],
    "part of the columns": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
    "every other column": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: x[..., ::-1, :].copy()[..., ::-1, :],
    "columns reversed": lambda x: x[..., ::-1].copy()[..., ::-1],
    "batches apart": lambda x: np.concatenate([x, x], axis=1)[:, : x.shape[1]],
    "axes swapped": lambda x: x.swapaxes(0, 1).copy().swapaxes(0, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3, 5, 33), (2, 3, 4, 33)])
def test_any_strides(layout, shape):
    x, w, residual = whole_numbers(1, *shape), whole_numbers(2, 20, 33), whole_numbers(3, *shape[:-1], 20)
    matrix = PackedMatrix([w])
    given, added = LAYOUTS[layout](x), LAYOUTS[layout](residual)
    np.testing.assert_array_equal(given, x)
    np.testing.assert_array_equal(matrix.times(given, residual=added), x @ w.T + residual)


def test_a_vector_a_row_read_many_times_and_an_array_at_an_odd_address():
    x, w = whole_numbers(1, 33), whole_numbers(2, 20, 33)
    matrix = PackedMatrix([w])
    np.testing.assert_array_equal(matrix.times(x), x @ w.T)
    np.testing.assert_array_equal(matrix.times(np.broadcast_to(x, (2, 3, 33))), np.broadcast_to(x @ w.T, (2, 3, 20)))
    odd = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32)
    np.testing.assert_array_equal(matrix.times(odd), x @ w.T)


def test_given_memory_is_written_where_it_is_and_nowhere_else():
    x, w = whole_numbers(1, 2, 7, 33), whole_numbers(2, 21, 33)
    around = np.full((2, 9, 30), np.nan, np.float32)
    out = around[:, 1:8, 4:25]
    assert PackedMatrix([w]).times(x, out=out) is out
    np.testing.assert_array_equal(out, x @ w.T)
    assert np.isnan(around).sum() == around.size - out.size


@pytest.mark.parametrize(("heads", "width"), [(1, 33), (3, 32), (5, 14), (4, 1), (2, 130)])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (1, 0, 2, 3), (3, 0, 1, 2)])
def test_heads_are_joined_in_place(heads, width, order):
    attended, w = whole_numbers(1, 2, heads, 9, width), whole_numbers(2, 40, heads * width)
    given = attended.transpose(order).copy().transpose(np.argsort(order))
    joined = attended.transpose(0, 2, 1, 3).reshape(2, 9, heads * width)
    matrix, residual = PackedMatrix([w]), whole_numbers(3, 2, 9, 40)
    np.testing.assert_array_equal(matrix.times_heads(given), joined @ w.T)
    y = matrix.times_heads(given, activation="relu", residual=residual)
    np.testing.assert_array_equal(y, np.maximum(joined @ w.T, 0) + residual)


@pytest.mark.parametrize("kind", TYPES)
def test_a_rows_bits_depend_on_that_row_alone(kind, monkeypatch):
    monkeypatch.setattr(products, "WORTH_THREADS_COST", 0)
    x, matrix = numbers(1, 301, 333), PackedMatrix([stored(numbers(2, 150, 333), kind)], [numbers(3, 150)])
    threads.set_threads(1)
    try:
        y = matrix.times(x, activation="gelu")
        for count in (2, 3, 4):
            threads.set_threads(count)
            np.testing.assert_array_equal(matrix.times(x, activation="gelu"), y)
    finally:
        threads.set_threads(None)
    for first, rows in ((0, 1), (3, 2), (50, 3), (100, 4), (7, 5), (290, 8), (60, 9), (5, 40)):
        some = matrix.times(x[first : first + rows], activation="gelu")
        np.testing.assert_array_equal(some, y[first : first + rows])
    # In a stack, an output is the same as alone.
    stack = PackedMatrix(
        [stored(numbers(4, 9, 333), kind), stored(numbers(2, 150, 333), kind)], [None, numbers(3, 150)]
    )
    np.testing.assert_array_equal(stack.times(x, activation="gelu")[:, 9:], y)


def test_nan_and_infinity_stay_in_their_row():
    x, matrix = numbers(1, 20, 200), PackedMatrix([numbers(2, 70, 200)])
    clean = matrix.times(x)
    x[4, 3], x[11, 199] = np.nan, np.inf
    y = matrix.times(x)
    assert np.isnan(y[4]).all()
    assert not np.isfinite(y[11]).any()
    others = np.delete(np.arange(20), (4, 11))
    np.testing.assert_array_equal(y[others], clean[others])


DIGEST = """
import hashlib, numpy as np
from eyeline.kernels.products import PackedMatrix
digest, rng = hashlib.sha256(), np.random.default_rng(0)
for rows, inputs, outputs in [(1, 300, 77), (7, 129, 64), (20, 50, 131)]:
    x, b = rng.standard_normal((rows, inputs), np.float32) * 3, rng.standard_normal(outputs, np.float32)
    for kind in (np.float32, np.float16):
        gate, up = (rng.standard_normal((outputs, inputs), np.float32).astype(kind) for _ in range(2))
        for activation in (None, "relu", "gelu", "gelu_tanh", "silu"):
            digest.update(PackedMatrix([gate], [b]).times(x, activation=activation).tobytes())
            digest.update(PackedMatrix.gated(gate, up, b).times(x, activation=activation).tobytes())
print(digest.hexdigest())
"""


def test_any_vector_width_gives_the_same_bits():
    same_at_any_vector_width(DIGEST)


def test_memory_is_the_matrix_and_the_result():
    matrix = PackedMatrix([np.zeros((1000, 300), np.float16)])
    columns = -(-1000 // 64) * 64
    assert matrix.nbytes <= columns * 300 * 2 + columns * 4
    x, out = np.zeros((5000, 300), np.float32), np.empty((5000, 1000), np.float32)
    matrix.times(x, out=out)
    tracemalloc.start()
    try:
        matrix.times(x, out=out)
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("rows", [1, 96, 97, 1 << 20, 1 << 33])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (576, 49152), (1 << 16, 10)])
def test_tasks_are_small_and_cover_everything(rows, inputs, outputs):
    matrix = PackedMatrix([np.empty((outputs, 1), np.float32)])
    matrix.inputs = inputs
    plan = matrix._plan(1, rows)
    record = np.frombuffer(plan.params, products.PRODUCT)[0]
    assert plan.cost <= BETWEEN_LOOKS
    assert record["row_blocks"] * record["row_block"] >= rows > (record["row_blocks"] - 1) * record["row_block"]
    assert record["tasks"] == record["row_blocks"] * -(-record["panels"] // record["panel_block"])


def test_a_call_may_stop_for_ctrl_c_after_every_task(monkeypatch):
    monkeypatch.setattr(launch, "BETWEEN_LOOKS", 1)
    x, w = whole_numbers(1, 300, 33), whole_numbers(2, 200, 33)
    np.testing.assert_array_equal(PackedMatrix([w]).times(x), x @ w.T)


def test_plans_are_few():
    matrix = PackedMatrix([np.ones((3, 4), np.float32)])
    for rows in range(200):
        assert (matrix.times(np.ones((rows, 4), np.float32)) == 4).all()
    assert len(matrix._plans) <= products.KEPT_PLANS


F32 = np.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, x: m.times(x.astype(float)), TypeError, "x must be a NumPy array of float32, got float64"),
        (lambda m, x: m.times([1.0, 2.0]), TypeError, "x must be a NumPy array of float32, got list"),
        (lambda m, x: m.times(x[:, :3]), ValueError, r"x must have shape \(2, 4\), got \(2, 3\)"),
        (lambda m, x: m.times(np.zeros((), F32)), ValueError, r"x must have shape \(4,\), got \(\)"),
        (lambda m, x: m.times(x, activation="tanh"), ValueError, "activation must be one of .*, got 'tanh'"),
        (lambda m, x: m.times(x, residual=x), ValueError, r"residual must have shape \(2, 3\), got \(2, 4\)"),
        (lambda m, x: m.times(x, out=np.zeros((2, 4), F32)), ValueError, r"out must have shape \(2, 3\)"),
        (lambda m, x: m.times(x, out=np.zeros((2, 3))), TypeError, "out must be a NumPy array of float32"),
        (lambda m, x: m.times(x, out=x[:, :3]), ValueError, "out must not overlap x"),
        (lambda m, x: m.times(x, out=np.zeros((3, 2), F32).T), ValueError, "out must have the numbers of a row"),
        (lambda m, x: m.times(x, out=np.broadcast_to(F32(0), (2, 3))), ValueError, "out must be an array that can"),
        (lambda m, x: m.times_heads(x), ValueError, r"x must have shape \(B, H, N, D\), H·D = 4, got \(2, 4\)"),
        (lambda m, x: PackedMatrix([]), ValueError, "parts must be one matrix or more"),
        (lambda m, x: PackedMatrix([x.astype(float)]), TypeError, "parts must be NumPy arrays of float32, .*float64"),
        (lambda m, x: PackedMatrix([x[0]]), ValueError, "parts must be matrices"),
        (lambda m, x: PackedMatrix([x, x[:, :3]]), ValueError, r"parts must be matrices \(outputs, 4\)"),
        (lambda m, x: PackedMatrix([x, x.astype(np.float16)]), TypeError, "parts must have one type"),
        (lambda m, x: PackedMatrix([x], []), ValueError, "biases must be as many as the matrices, 1, got 0"),
        (lambda m, x: PackedMatrix([x], [x[0]]), ValueError, r"biases must have shape \(2,\), got \(4,\)"),
        (lambda m, x: PackedMatrix.gated(x, x[:1]), ValueError, r"up must have gate's shape \(2, 4\)"),
    ],
)
def test_wrong_input(call, error, message):
    x = np.ones((2, 4), F32)
    with pytest.raises(error, match=message):
        call(PackedMatrix([np.ones((3, 4), F32)]), x)


def test_a_residual_that_overlaps_the_result_elsewhere_is_refused():
    x, memory = np.ones((2, 4), F32), np.ones((2, 6), F32)
    with pytest.raises(ValueError, match="out must not overlap residual"):
        PackedMatrix([np.ones((3, 4), F32)]).times(x, residual=memory[:, 1:4], out=memory[:, :3])

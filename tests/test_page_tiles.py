"""The numbers of a matrix's tiles, from the page's worker: the library's; asked for once, and cancelled."""

from __future__ import annotations

from itertools import product

import numpy as np
import pages
import pytest
from browser import Opener
from kernel_page import kernel_page, opened

from eyeline.masks import Causal, Documents, Mask, Window
from eyeline.readouts import Entropy, TopK
from eyeline.traces import Trace

MODULES = ("matrix/tiles.js", "matrix/row_reading.js", "matrix/open_pairs.js")
N = 71
#: Random bits, by a formula, so that a mask is neither intervals nor causal.
BITS = np.add.outer(7 * np.arange(N), 3 * np.arange(N) ** 2) % 5 < 3
MASKS: dict[str, Mask | None] = {
    "all": None, "causal": Causal(), "bounds": Window(5, 3), "documents": Documents([20, 1, 50]),
}  # fmt: skip
START = """async () => {
  window.client = new room.KernelClient(room.JOBS);
  window.ask = (job, request, options) => client.ask(job, request, options);
  window.given = async (number, head) => {
    const typed = (Kind, numbers) => numbers && new Kind(numbers);
    const { mask } = head;
    const values = typed(mask.kind === "bits" ? Uint8Array : Int32Array, mask.values);
    await ask("matrix.head", { number, head: {
      ...head, q: new Float32Array(head.q), k: new Float32Array(head.k), lse: new Float32Array(head.lse),
      factors: typed(Float32Array, head.factors), mask: { ...mask, values },
    } });
  };
  window.told = (number, heads, table) => ask("matrix.table", { number, heads, table: {
    ...table, rows: new Int32Array(table.rows), columns: new Int32Array(table.columns),
    others: new Int32Array(table.others),
  } });
  window.tile = async (table, [top, left, bottom, right], level) => {
    const { means } = await ask("matrix.tile", { table, sides: { top, left, bottom, right }, level });
    return [...means].map((mean) => (Number.isNaN(mean) ? null : mean));
  };
}"""


@pytest.fixture(scope="module")
def room(chromium, tmp_path_factory):
    """The modules in a page, with a worker."""
    folder = tmp_path_factory.mktemp("tiles")
    opener = Opener(chromium, folder)
    page = opened(opener, kernel_page(folder / "kernel.html", more=MODULES))
    page.evaluate(START)
    yield page
    opener.close()


def head_of(trace: Trace, head: int, factors: np.ndarray | None = None) -> dict:
    """A head's arrays as the page has them."""
    (layer,) = trace.layers
    kind, array = layer.allowed.kind, layer.allowed.of_head(head)
    mask = {"kind": kind, "values": None if array is None else array.ravel().tolist()}
    return {
        "q": layer.q[head].ravel().tolist(), "k": layer.k[head].ravel().tolist(), "lse": layer.lse[head].tolist(),
        "N": len(trace.queries), "M": len(trace.across), "D": trace.model.head_dim, "scale": layer.scale,
        "mask": mask | ({} if array is None else {"shape": list(array.shape)}),
        "factors": None if factors is None else factors.ravel().tolist(),
    }  # fmt: skip


def cells_of(trace: Trace, rows: list, columns: list, reduce: str) -> tuple[np.ndarray, np.ndarray]:
    """The weights between units, in float64, and where these may look."""
    (layer,) = trace.layers
    weights = layer.weights.astype(np.float64)
    open_ = np.broadcast_to(layer.allowed.dense(N, N), weights.shape)
    weights = np.stack([weights[:, first:last].mean(1) for first, last in rows], 1)
    weights = np.stack([weights[:, :, first:last].sum(2) for first, last in columns], 2)
    open_ = np.stack([open_[:, first:last].any(1) for first, last in rows], 1)
    open_ = np.stack([open_[:, :, first:last].any(2) for first, last in columns], 2)
    return weights.max(0) if reduce == "max" else weights.mean(0), open_.any(0)


def dots_of(cells: np.ndarray, open_: np.ndarray, sides: tuple[int, ...], level: int) -> list[float | None]:
    """The means of squares of cells, None where all are hidden."""
    top, left, bottom, right = sides
    step = 2**level
    found: list[float | None] = []
    for row, column in product(range(top, bottom, step), range(left, right, step)):
        part = np.s_[row : min(row + step, bottom), column : min(column + step, right)]
        found.append(float(cells[part][open_[part]].mean()) if open_[part].any() else None)
    return found


def trace_of(mask: Mask | None, heads: int) -> Trace:
    return pages.trace(pages.words(N), special=False, layers=1, heads=heads, head_dim=9, mask=mask)


def units(of_words: bool) -> tuple[list, list]:
    """Units, as tokens [first, last), and those that aren't shown: each token, or words without first and last."""
    if not of_words:
        return [(at, at + 1) for at in range(N)], []
    chain, at = [], 1
    while at < N - 1:
        chain.append((at, min(at + 1 + at % 3, N - 1)))
        at = chain[-1][1]
    return chain, [(0, 1), (N - 1, N)]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("heads", "reduce"), [(1, "mean"), (3, "mean"), (3, "max")])
def test_dots_are_the_librarys_means(room, mask, heads, reduce):
    trace = trace_of(MASKS[mask], heads)
    for head in range(heads):
        room.evaluate("([number, head]) => given(number, head)", [head, head_of(trace, head)])
    for of_words, shares in product((False, True), (False, True)):
        shown, others = units(of_words)
        flat = {name: np.ravel(of).astype(int).tolist() for name, of in (("rows", shown), ("others", others))}
        table = flat | {"columns": flat["rows"], "reduce": reduce, "shares": shares, "sums": False}
        room.evaluate("([heads, table]) => told(1, heads, table)", [list(range(heads)), table])
        cells, open_ = cells_of(trace, shown, shown, reduce)
        if shares:
            totals = cells.sum(1, keepdims=True)
            cells = cells / np.where(totals > 0, totals, 1)
        count = len(shown)
        for sides, level in product([(0, 0, count, count), (8, 0, 24, 16), (0, 16, 8, 32)], (0, 1, 3)):
            found = room.evaluate("([sides, level]) => tile(1, sides, level)", [sides, level])
            expected = dots_of(cells, open_, sides, level)
            assert [one is None for one in found] == [one is None for one in expected]
            kept = [(a, b) for a, b in zip(found, expected, strict=True) if b is not None]
            assert np.abs(np.subtract(*np.transpose(kept))).max() <= 1e-6 if kept else True


def test_what_is_not_shown_takes_the_rest_of_each_row(room):
    trace = trace_of(None, 2)
    for head in range(2):
        room.evaluate("([number, head]) => given(number, head)", [head, head_of(trace, head)])
    shown, others = units(True)
    flat = {name: np.ravel(of).tolist() for name, of in (("rows", shown), ("columns", shown), ("others", others))}
    room.evaluate("(table) => told(2, [0, 1], table)", flat | {"reduce": "mean", "shares": False, "sums": False})
    found = room.evaluate(
        "async (count) => [...(await ask('matrix.aside', { table: 2, top: 0, bottom: count })).aside]", len(shown)
    )
    cells, _ = cells_of(trace, shown, others, "mean")
    assert found == pytest.approx(cells.sum(1), abs=1e-6)


def test_what_columns_take_is_the_mean_of_rows_that_see_three_of_them(room):
    trace = trace_of(Causal(), 1)
    room.evaluate("([number, head]) => given(number, head)", [6, head_of(trace, 0)])
    shown = np.ravel(units(False)[0]).tolist()
    table = {"rows": shown, "columns": shown, "others": [], "reduce": "mean", "shares": False, "sums": False}
    room.evaluate("(table) => told(6, [6], table)", table)
    found = room.evaluate(
        "async (places) => [...(await ask('matrix.received', { table: 6, places })).means]", [[0, 4], [40, 42]]
    )
    expected = trace.layers[0].weights[0][[2, 3, 40, 41]].mean(0)  # rows 0 and 1 see fewer than three
    assert found == pytest.approx(expected, abs=1e-6)


def test_weights_that_were_multiplied_are(room):
    trace = trace_of(Causal(), 1)
    factors = np.linspace(0, 2, N * N, dtype=np.float32).reshape(N, N)
    room.evaluate("([number, head]) => given(number, head)", [9, head_of(trace, 0, factors)])
    shown = np.ravel(units(False)[0]).tolist()
    table = {"rows": shown, "columns": shown, "others": [], "reduce": "mean", "shares": False, "sums": True}
    room.evaluate("(table) => told(3, [9], table)", table)
    cells = trace.layers[0].weights[0].astype(np.float64) * factors
    found = room.evaluate("tile(3, [0, 0, 64, 64], 2)")
    expected = dots_of(cells, np.tri(N, dtype=bool), (0, 0, 64, 64), 2)
    assert [one if one is not None else np.nan for one in found] == pytest.approx(
        [one if one is not None else np.nan for one in expected], abs=1e-6, nan_ok=True
    )


def test_bits_hide_what_they_hide(room):
    q = np.random.default_rng(0).standard_normal((N, 4)).astype(np.float32)
    weights = np.where(BITS, np.exp(q @ q.T), 0)
    head = {
        "q": q.ravel().tolist(), "k": q.ravel().tolist(), "lse": np.log(weights.sum(1)).tolist(), "N": N, "M": N,
        "D": 4, "scale": 1, "factors": None,
        "mask": {"kind": "bits", "values": BITS.astype(int).ravel().tolist(), "shape": [N, N]},
    }  # fmt: skip
    room.evaluate("(head) => given(8, head)", head)
    shown = np.ravel(units(False)[0]).tolist()
    table = {"rows": shown, "columns": shown, "others": [], "reduce": "mean", "shares": False, "sums": False}
    room.evaluate("(table) => told(4, [8], table)", table)
    found = room.evaluate("tile(4, [0, 0, 71, 71], 1)")
    expected = dots_of(weights / weights.sum(1, keepdims=True), BITS, (0, 0, N, N), 1)
    assert [one is None for one in found] == [one is None for one in expected]
    kept = [(a, b) for a, b in zip(found, expected, strict=True) if b is not None]
    assert np.abs(np.subtract(*np.transpose(kept))).max() <= 1e-6


def test_how_many_pairs_a_causal_mask_leaves(room):
    dense = np.tri(12, 12, dtype=int)
    places = [
        (a, b, c, d) for a, b, c, d in product(range(12), range(1, 13), range(12), range(1, 13)) if a < b and c < d
    ]
    found = room.evaluate("(places) => places.map((place) => room.causalPairs(...place))", places)
    assert found == [int(dense[a:b, c:d].sum()) for a, b, c, d in places]


def test_a_cancelled_tile_ends_and_others_are_answered(room):
    count = 6000
    said = room.evaluate(
        """async (count) => {
          const numbers = () => Array.from({ length: 16 * count }, (_, at) => Math.sin(at * at % 977));
          await given(7, { q: numbers(), k: numbers(), lse: Array(count).fill(9), N: count, M: count, D: 16, scale: 1,
            mask: { kind: "all" }, factors: null });
          const rows = Array.from({ length: 2 * count }, (_, at) => (at >> 1) + (at & 1));
          await told(5, [7], { rows, columns: rows, others: [], reduce: "mean", shares: false, sums: false });
          const ending = new AbortController();
          const sides = { top: 0, left: 0, bottom: count, right: count };
          const whole = ask("matrix.tile", { table: 5, sides, level: 4 }, { signal: ending.signal })
            .then(() => "done", (error) => error.name);
          const [small] = await Promise.all([tile(5, [0, 0, 4, 4], 0), setTimeout(() => ending.abort(), 0)]);
          return [await whole, small.length, (await tile(5, [0, 0, 8, 8], 0)).length];
        }""",
        count,
    )
    assert said == ["Cancelled", 16, 64]


def test_only_tiles_that_are_wanted_are_asked_for_and_each_once(room):
    asked, left, begun = room.evaluate(
        """async () => {
          const size = 4096;
          const cells = { rows: { length: size }, columns: { length: size } };
          const [asked, left] = [[], []];
          const source = (tile, signal) => new Promise((done, fail) => {
            asked.push([tile.level, tile.row, tile.column]);
            signal.addEventListener("abort", () => { left.push([tile.row, tile.column]); fail(new Error("left")); });
            if (tile.row === 0) setTimeout(() => done(new Float32Array(tile.rows * tile.columns)), 0);
          });
          const tiles = new room.Tiles(cells, source);
          const at = (top, left) => tiles.covering(0, { top, left, bottom: top + 300, right: left + 300 });
          tiles.request(at(0, 0), () => {});            // 2 x 2 tiles: those of row 0 come, those of row 1 don't
          await new Promise((done) => setTimeout(done, 5));
          tiles.request(at(0, 0), () => {});            // nothing new
          tiles.request(at(0, 256), () => {});          // moved: one column leaves, another is wanted
          await new Promise((done) => setTimeout(done, 5));
          tiles.stop();
          return [asked, left, tiles.begun];
        }"""
    )
    assert sorted(asked[:4]) == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert sorted(asked[4:]) == [[0, 0, 2], [0, 1, 2]]
    assert left[0] == [1, 0]  # no longer visible
    assert sorted(left[1:]) == [[1, 1], [1, 2]]  # at the end
    assert begun == 6


def test_a_rows_largest_and_entropy_are_the_librarys(room):
    trace = trace_of(Causal(), 1)
    seen = trace.layers[0].observe([TopK(5), Entropy()])
    weights = trace.layers[0].weights[0]
    for row in (0, 1, 3, 40, N - 1):
        largest, entropy = room.evaluate(
            "(weights) => [room.largestOf(weights), room.entropyOf(weights)]", weights[row].tolist()
        )
        count = min(row + 1, 5)
        assert [one["column"] for one in largest] == seen.top_k.keys[0, 0, row, :count].tolist()
        assert [one["number"] for one in largest] == pytest.approx(seen.top_k.weights[0, 0, row, :count], abs=1e-6)
        assert entropy == pytest.approx(seen.entropy[0, 0, row], abs=1e-5)

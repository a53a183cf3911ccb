"""The page's kernel in a browser: its numbers are Python's; memory, the worker, and where neither may be had."""

import json
from itertools import pairwise

import numpy as np
import pytest
from browser import Opener
from kernel_page import kernel_page, opened
from served import Served, session_of

import eyeline as el
from eyeline.kernels.products import PackedMatrix
from eyeline.kernels.rowwise import layer_norm
from eyeline.views.page import Page
from eyeline.views.page.requests.request import RequestError
from eyeline.words import page_table

#: Turns a call as JSON into one as the kernel takes it, and what comes back into lists.
HELP = """
const KINDS = { f: Float32Array, h: Uint16Array, i: Int32Array, b: Uint8Array };
const read = (value) => {
  if (Array.isArray(value)) return value.map(read);
  if (value === null || typeof value !== "object") return value;
  if (value.kind in KINDS) return new KINDS[value.kind](value.list);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, read(one)]));
};
const listed = (found) =>
  Object.fromEntries(Object.entries(found).map(([name, one]) => [name, ArrayBuffer.isView(one) ? [...one] : one]));
"""


def run(page, body, value=None):
    """Run JavaScript in the page, with a `value` that `packed` made."""
    return page.evaluate(f"async (sent) => {{ {HELP} const given = read(sent); {body} }}", value)


def packed(array):
    """An array as JSON: float16 by its bits."""
    array = np.asarray(array)
    kind = {"float32": "f", "float16": "h", "int32": "i", "uint8": "b", "bool": "b"}[array.dtype.name]
    flat = array.view(np.uint16) if kind == "h" else array
    return {"kind": kind, "list": flat.ravel().tolist()}


@pytest.fixture(scope="module")
def room(chromium, tmp_path_factory):
    """A page with the kernel's room alone, under the policy of every page, from a file."""
    folder = tmp_path_factory.mktemp("kernel")
    opener = Opener(chromium, folder)
    page = opened(opener, kernel_page(folder / "kernel.html"))
    run(page, "globalThis.kernel = await room.pageKernel(); globalThis.client = new room.KernelClient(room.JOBS);")
    yield page
    opener.close()


class Case:
    """A call with random numbers, and the same for Python.

    Args:
        shape: H, G, N, M, D, E.
        mask: None, "causal", "bits" or "bounds".
        half: whether q, k and v are float16.
    """

    def __init__(self, shape, mask=None, *, half=False, seed=0):
        draw = np.random.default_rng(seed)
        H, G, N, M, D, E = self.shape = shape
        dtype = np.float16 if half else np.float32
        self.q, self.k, self.v = (
            draw.standard_normal((heads, tokens, width)).astype(dtype)
            for heads, tokens, width in ((H, N, D), (G, M, D), (G, M, E))
        )
        self.open = np.ones((N, M), bool)
        entry = None
        if mask == "causal":
            self.open, entry = np.tri(N, M, dtype=bool), {"kind": "causal"}
        if mask == "bits":
            self.open = draw.random((N, M)) < 0.6
            self.open[N // 2] = False  # a query that may look at nothing
            entry = {"kind": "bits", "values": packed(self.open), "shape": [N, M]}
        if mask == "bounds":
            ends = np.sort(draw.integers(0, M + 1, (N, 4)), axis=1).reshape(N, 2, 2).astype(np.int32)
            keys = np.arange(M)
            self.open = ((ends[..., :1] <= keys) & (keys < ends[..., 1:])).any(axis=1)
            entry = {"kind": "bounds", "values": packed(ends), "shape": [N, 2, 2]}
        self.call = {"H": H, "G": G, "N": N, "M": M, "D": D, "E": E, "scale": D**-0.5, "mask": entry}
        self.call |= {name: packed(getattr(self, name)) for name in "qkv"}

    @property
    def weights(self):
        """In float64, (H, N, M); and each row's lse."""
        H, G = self.shape[:2]
        q, k = self.q.astype(float), np.repeat(self.k.astype(float), H // G, axis=0)
        scores = np.where(self.open, q @ k.swapaxes(1, 2) * self.call["scale"], -np.inf)
        top = np.maximum(scores.max(axis=2, keepdims=True), -1e300)
        parts = np.exp(scores - top)
        sums = parts.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):
            return parts / np.where(sums > 0, sums, 1), (top + np.log(sums))[..., 0]


CASES = {
    "small": Case((1, 1, 1, 1, 1, 1)),
    "odd": Case((2, 1, 13, 17, 7, 5), seed=1),
    "causal": Case((4, 4, 97, 97, 32, 32), "causal", seed=2),
    "bits": Case((3, 3, 41, 55, 16, 7), "bits", seed=3),
    "bounds": Case((2, 2, 50, 300, 64, 64), "bounds", seed=4),
    "halves": Case((2, 1, 50, 140, 64, 9), "causal", half=True, seed=5),
}


def close(found, wanted, within=1e-6):
    wanted = np.asarray(wanted, float)
    found = np.array([-np.inf if one is None else one for one in found]).reshape(wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=within, atol=within)


@pytest.mark.parametrize("given", [False, True], ids=["own", "given"])
@pytest.mark.parametrize("name", CASES)
def test_a_forward_pass_and_its_readouts_are_pythons(room, name, given):
    case = CASES[name]
    H, G, N, M, _, _ = case.shape
    w, lse = case.weights
    rows, columns, groups, edges = min(N, 7), min(M, 6), 3, [-4, 0, 1, 5]
    of = (np.arange(M, dtype=np.int32) * 7) % (groups + 1) - 1  # -1 is in no group
    ask = {
        "entropy": True, "distance": True, "largest": min(4, M), "received": True, "receivedMost": True,
        "groups": {"of": packed(of), "count": groups}, "offsets": edges,
        "grid": {"rows": rows, "columns": columns, "mean": True, "most": True},
    }  # fmt: skip
    call = case.call | {"ask": ask} | ({"lse": packed(lse.astype(np.float32))} if given else {})
    found = run(room, "return listed(kernel.attend(given));", call)
    close(found["output"], w @ np.repeat(case.v.astype(float), H // G, axis=0))
    close(found["lse"], lse)
    close(found["entropy"], -(w * np.log(np.where(w > 0, w, 1))).sum(axis=2), 3e-6)
    places = np.arange(M) - np.arange(N)[:, None]
    close(found["distance"], (w * abs(places)).sum(axis=2))
    order = np.argsort(-w, axis=2, kind="stable")[..., : min(4, M)]
    best = np.take_along_axis(w, order, axis=2)
    close(found["weights"], best)
    assert found["keys"] == np.where(best > 0, order, -1).ravel().tolist()
    close(found["groups"], np.stack([w[..., of == one].sum(axis=2) for one in range(groups)], axis=2))
    ranges = [np.where((low <= places) & (places < high), w, 0).sum(axis=2) for low, high in pairwise(edges)]
    close(found["offsets"], np.stack(ranges, axis=2))
    close(found["received"], w.sum(axis=1))
    close(found["receivedMost"], w.max(axis=1))
    down, across = (np.arange(count + 1) * n // count for n, count in ((N, rows), (M, columns)))
    cells = [[w[:, a:b, c:d] for c, d in pairwise(across)] for a, b in pairwise(down)]
    for kind, of_cell in (("gridMean", np.mean), ("gridMost", np.max)):
        close(found[kind], np.moveaxis([[of_cell(one, axis=(1, 2)) for one in row] for row in cells], 2, 0))


@pytest.mark.parametrize("name", CASES)
def test_any_window_of_the_weights_is_that_of_all(room, name):
    case = CASES[name]
    w, lse = case.weights
    N, M = w.shape[1:]
    call = case.call | {"lse": packed(lse.astype(np.float32))}
    windows = [[0, N, 0, M], [N // 3, N // 3 + 1, 0, M], [0, N, M // 2, M // 2 + 1], [N // 2, N, M // 3, M - M // 5]]
    body = "return given.windows.map(([a, b, c, d]) => [...kernel.weights(given.call, [a, b], [c, d])]);"
    for found, (a, b, c, d) in zip(run(room, body, {"call": call, "windows": windows}), windows, strict=True):
        close(found, w[:, a:b, c:d])


def test_it_is_what_observe_says(room):
    """The same call in Python's kernels, on this machine's vectors."""
    case = CASES["causal"]
    read = [el.Weights(), el.TopK(3), el.Received(), el.Entropy()]
    seen = el.observe(case.q, case.k, case.v, mask=el.Causal(), read=read)
    ask = {"largest": 3, "received": True, "entropy": True}
    found = run(room, "return listed(kernel.attend(given));", case.call | {"ask": ask})
    call = case.call | {"lse": packed(np.asarray(seen.lse, np.float32))}
    close(run(room, "return [...kernel.weights(given)];", call), seen.weights)
    close(found["output"], seen.output)
    close(found["received"], seen.received)
    close(found["entropy"], seen.entropy, 3e-6)
    assert found["keys"] == seen.top_k.keys.ravel().tolist()


def test_heads_may_have_masks_of_their_own_be_flat_and_be_multiplied(room):
    case = Case((3, 3, 20, 30, 8, 4), seed=7)
    draw = np.random.default_rng(8)
    open_ = np.stack([np.ones((20, 30), bool), np.tri(20, 30, dtype=bool), draw.random((20, 30)) < 0.5])
    scores = case.q.astype(float) @ case.k.astype(float).swapaxes(1, 2) * case.call["scale"]
    scores[2] = 0
    scores = np.where(open_, scores, -np.inf)
    w = np.exp(scores - scores.max(axis=2, keepdims=True))
    w /= w.sum(axis=2, keepdims=True)
    by = draw.choice([0.5, 1, 0, 2], 20).astype(np.float32)
    columns = (np.arange(30) % 4 == 1).astype(np.uint8)
    w = np.where(columns == 1, w * by[:, None], w)
    masks = [{"kind": "all"}, {"kind": "causal"}, {"kind": "bits", "values": packed(open_[2]), "shape": [20, 30]}]
    call = case.call | {"mask": masks, "flat": [False, False, True], "ask": {"received": True, "entropy": True}}
    call |= {"factors": [{"by": packed(by), "columns": packed(columns)}]}
    found = run(room, "return listed(kernel.attend(given));", call)
    close(found["output"], w @ case.v.astype(float))
    close(found["received"], w.sum(axis=1))
    close(found["entropy"], -(w * np.log(np.where(w > 0, w, 1))).sum(axis=2), 3e-6)


def test_an_output_may_be_written_where_the_next_product_reads_it(room):
    case = CASES["odd"]
    H, G, N, _, _, E = case.shape
    body = """
      const into = kernel.rows(given.N, given.H * given.E);
      kernel.attend({ ...given, into: { at: into.at, strides: [4 * given.E, 4 * given.H * given.E] } });
      const found = [...kernel.floats(into.at, given.N * given.H * given.E)];
      kernel.give(into.at);
      return found;"""
    wanted = (case.weights[0] @ np.repeat(case.v.astype(float), H // G, axis=0)).swapaxes(0, 1).reshape(N, H * E)
    close(run(room, body, case.call), wanted)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu", None])
def test_products_and_norms_are_pythons(room, activation):
    draw = np.random.default_rng(3)
    x, W, b, r = (draw.standard_normal(shape).astype(np.float32) for shape in ((201, 40), (19, 40), (19,), (201, 19)))
    codes, scales = np.clip(np.round(W * 30), -127, 127).astype(np.int8), np.full(19, 1 / 30, np.float32)
    norm = draw.standard_normal((2, 19)).astype(np.float32)
    body = """
      const x = kernel.rows(201, 40, given.x), y = kernel.rows(201, 19), residual = kernel.rows(201, 19, given.r);
      const codes = Int8Array.from(given.codes);
      const of = [kernel.pack(given.W, 19, 40, given.b), kernel.packInt8(codes, given.scales, 19, 40)];
      const found = of.map((W, at) => {
        kernel.product(W, x, y, at ? {} : { activation: given.activation ?? undefined, residual });
        return [...kernel.floats(y.at, 201 * 19)];
      });
      const [weight, bias] = [0, 1].map((at) => kernel.rows(1, 19, given.norm.subarray(19 * at, 19 * at + 19)));
      kernel.norm(y, weight, bias, 1e-5, { residual });
      found.push([...kernel.floats(y.at, 201 * 19)]);
      of.forEach((W) => kernel.unpack(W));
      [x, y, residual, weight, bias].forEach(({ at }) => kernel.give(at));
      return found;"""
    given = {name: packed(array) for name, array in (("x", x), ("W", W), ("b", b), ("r", r), ("scales", scales))}
    given |= {"activation": activation, "codes": codes.ravel().tolist(), "norm": packed(norm)}
    found = run(room, body, given)
    close(found[0], PackedMatrix([W], [b]).times(x, activation=activation, residual=r), 5e-6)
    plain = PackedMatrix([codes * scales[:, None]]).times(x)
    close(found[1], plain, 5e-6)
    close(found[2], layer_norm(plain, norm[0], norm[1], 1e-5, residual=r), 5e-6)


def test_memory_is_used_again_and_grows(room):
    body = """
      const { memory } = await room.Kernel.start(await room.compiledModule());
      const [a, b, c] = [100, 64, 1].map((bytes) => memory.take(bytes));
      const first = memory.take(4);
      const apart = [b - a, c - b, a % 64];
      memory.give(b); memory.give(a);
      const whole = memory.take(192); // both, side by side
      const array = new Float32Array([1, 2, 3]);
      const at = memory.place(array), again = memory.place(array), other = memory.place(array.slice());
      const before = memory.memory.buffer.byteLength;
      const large = memory.take(before);
      const kept = [...memory.floats(at, 3)];
      memory.forget(20); // bytes: the one that was used least lately goes
      const left = [...memory.arrays.keys()].map((one) => one === array);
      let says = "";
      try { memory.take(5e9); } catch (error) { says = `${error.name}: ${error.message}`; }
      let twice = "";
      try { memory.give(c); memory.give(c); } catch (error) { twice = error.message; }
      return { apart, reused: whole === a, same: at === again, else: other !== at,
        grown: memory.memory.buffer.byteLength > before, kept, left, says, twice, used: memory.used };"""
    found = run(room, body)
    assert found["apart"] == [128, 64, 0]
    assert [found[name] for name in ("reused", "same", "else", "grown")] == [True] * 4
    assert found["kept"] == [1, 2, 3]
    assert found["left"] == [False]
    assert found["says"].startswith("RangeError: memory must have room for 50")
    assert found["twice"].startswith("address must be of a part that was taken, got ")


def test_calls_give_their_memory_back_and_keep_arrays_once(room):
    body = """
      const { q, k, v } = given;
      kernel.attend(given);
      const used = kernel.memory.used;
      for (let turn = 0; turn < 3; turn++) kernel.attend(given);
      kernel.weights({ ...given, lse: new Float32Array(given.H * given.N) });
      return [used, kernel.memory.used, [q, k, v].every((array) => kernel.memory.arrays.has(array))];"""
    before, after, kept = run(room, body, CASES["odd"].call)
    assert before == after
    assert kept


#: Asks the page's client for the same as the main thread's kernel, and for a long job that is cancelled.
BOTH = """
  const here = kernel.attend(given);
  const call = { ...given, lse: here.lse };
  const window = [[2, 11], [3, 15]];
  const there = await client.ask("attend", given);
  const part = await client.ask("weights", { call, rows: window[0], columns: window[1] });
  const same = (one, other) => one.length === other.length && one.every((number, at) => Object.is(number, other[at]));
  const long = { H: 1, G: 1, N: 10000, M: 10000, D: 64, E: 0, q: new Float32Array(640000), k: new Float32Array(640000),
    scale: 1, mask: null };
  const stop = new AbortController();
  const shares = [];
  const told = (share) => shares.push(share) === 2 && stop.abort();
  const how = await client
    .ask("attend", long, { signal: stop.signal, told })
    .then(() => "done", (error) => error.name);
  const wrong = await client.ask("guess", {}).catch((error) => error.message);
  const after = await client.ask("attend", given);
  return { apart: client.apart, output: same(here.output, there.output), lse: same(here.lse, there.lse),
    part: same(kernel.weights(call, ...window), part.weights), how, shares, wrong,
    after: same(after.output, here.output),
    waiting: client.waiting.size };
"""


def check_both(found, apart):
    assert found["apart"] is apart
    assert [found[name] for name in ("output", "lse", "part", "after")] == [True] * 4
    assert found["how"] == "Cancelled"
    first, second = found["shares"]
    assert 0 < first < second < 1
    assert found["wrong"].endswith("got guess")
    assert found["waiting"] == 0


def test_the_worker_answers_as_the_main_thread_and_can_be_cancelled(room):
    check_both(run(room, BOTH, CASES["odd"].call), True)


def test_after_a_worker_broke_the_next_job_gets_another(room):
    body = """
      const other = new room.KernelClient(room.JOBS);
      const make = globalThis.Worker;
      let made = null;
      globalThis.Worker = class extends make { constructor(url) { super(url); made = this; } };
      await other.open();
      globalThis.Worker = make;
      const numbers = new Float32Array(320000);
      const long = { H: 1, G: 1, N: 5000, M: 5000, D: 64, E: 0, q: numbers, k: numbers, scale: 1, mask: null };
      const says = other.ask("attend", long).catch((error) => error.message);
      while (!other.waiting.size) await Promise.resolve();
      made.onerror(new ErrorEvent("error", { message: "out of memory" }));
      const found = await other.ask("attend", given);
      await other.end();
      return [await says, found.output.length, other.apart, other.waiting.size];"""
    H, _, N, _, _, E = CASES["odd"].shape
    assert run(room, body, CASES["odd"].call) == ["out of memory", H * N * E, True, 0]


def test_where_no_worker_may_be_had_the_main_thread_does_its_jobs(open_page, tmp_path):
    path = kernel_page(tmp_path / "kernel.html", ("worker-src blob:", "worker-src &#x27;none&#x27;"))
    page = opened(open_page, path, ours=lambda message: "worker-src" not in message.text)
    start = "globalThis.kernel = await room.pageKernel(); globalThis.client = new room.KernelClient(room.JOBS);"
    check_both(run(page, start + BOTH, CASES["odd"].call), False)


@pytest.mark.parametrize("language", ["en", "vi"])
def test_where_webassembly_is_forbidden_the_still_picture_stays_and_says_why(tiny_trace, open_page, tmp_path, language):
    path = tmp_path / "page.html"
    Page([tiny_trace]).save(path)
    text = path.read_text("utf-8")
    assert text.count(" &#x27;wasm-unsafe-eval&#x27;") == 1
    path.write_text(text.replace(" &#x27;wasm-unsafe-eval&#x27;", ""), "utf-8")
    page = open_page(path, language=language, ours=lambda message: False)
    said = page.get_by_role("alert")
    said.wait_for()
    assert said.inner_text() == page_table()["kernel.forbidden"][("en", "vi").index(language)]
    assert page.locator("#eyeline-still table").is_visible()
    assert page.locator(".eyeline").count() == 0


def matrix_of(page):
    """The matrix as drawn, and the sentence above it."""
    page.wait_for_selector('canvas[data-state="done"]')
    picture = page.evaluate("document.querySelector('canvas[data-state]').toDataURL()")
    return picture, page.locator(".eyeline .masthead").inner_text()


def test_where_webassembly_is_forbidden_a_server_gives_the_weights(tiny_trace, tiny_model, open_page):
    with Served(session_of(tiny_trace, tiny_model)) as served:
        address = f"http://{served.host}/"
        page = open_page(address, within=(address,), words="view=matrix layer=1 head=mean")
        asked = []
        page.on("request", lambda request: asked.append(json.loads(request.post_data or "{}").get("kind")))
        shown = matrix_of(page)
        assert "weights" not in asked
        page.add_init_script("delete globalThis.WebAssembly")
        page.reload()
        assert matrix_of(page) == shown
        assert "weights" in asked
        page.goto(f"{address}#view=matrix&layer=1&head=0&removed=2")  # "what if" needs weights that no model has
        page.reload()
        page.get_by_text(page_table()["kernel.forbidden"][0]).wait_for()


def test_a_request_for_weights_is_a_rectangle_of_them(tiny_trace):
    page = Page([tiny_trace])
    N = len(tiny_trace.queries)
    request = {"id": 1, "kind": "weights", "trace": 0, "layer": 1, "head": 1, "queries": [1, N], "keys": [0, 3]}
    reply, (buffer,) = page.answer(request)
    assert reply == {"id": 1, "kind": "weights", "shape": [N - 1, 3]}
    wanted = tiny_trace.weights(1, 1, slice(1, N), slice(0, 3))
    assert np.frombuffer(buffer, "<f4").reshape(N - 1, 3).tolist() == wanted.tolist()
    with pytest.raises(RequestError, match=r"keys must be \[first, last\) within 0 to"):
        page.answer(request | {"keys": [0, N + 1]})

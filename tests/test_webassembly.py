"""The kernels in WebAssembly, in a browser, against the native ones; and the module against its source."""

from __future__ import annotations

import json
import os
import shutil
import zlib

import numpy as np
import pytest
from comparing import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import cases, readouts, score_stacks
from webassembly import in_page, in_place_of_native

import eyeline as el
from eyeline.kernels import rowwise
from eyeline.kernels.products import ACTIVATIONS, PackedMatrix
from eyeline.kernels.wasm import OBJECTS, RECORDS, building, module_bytes
from eyeline.kernels.wasm.describing import written

#: A browser's page outlives a test's examples, and takes as long as it takes.
in_a_browser = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def page(chromium):
    context = chromium.new_context(offline=True)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def call(page):
    return in_page(page, module_bytes())


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# The files.


def test_the_module_is_small_and_asks_for_nothing_but_memory(page):
    module = module_bytes()
    assert len(module) < 150_000
    assert len(zlib.compress(module, 9)) < 50_000
    imports, exports = page.evaluate(
        """async (bytes) => {
          const module = await WebAssembly.compile(Uint8Array.from(bytes));
          const named = (list) => list.map((one) => `${one.module ?? ""} ${one.name} ${one.kind}`);
          return [named(WebAssembly.Module.imports(module)), named(WebAssembly.Module.exports(module))];
        }""",
        list(module),
    )
    assert imports == ["env memory memory"]
    assert sorted(exports) == [" __heap_base global", " forward function", " product function", " rowwise function"]


def test_the_records_are_those_of_the_source():
    assert RECORDS.read_text("utf-8") == written(), "run python -m eyeline.kernels.wasm"


def test_the_objects_are_those_of_the_source_and_link_to_a_module_with_the_same_results(page, call, tmp_path):
    kept = json.loads(OBJECTS.read_text("utf-8"))
    if kept["versions"] != building.versions():
        pytest.skip(f"the module was made by {kept['versions']}, and here is {building.versions()}")
    objects = building.made_objects(tmp_path)
    assert building.fingerprint(objects) == kept, "run python -m eyeline.kernels.wasm"
    if shutil.which("wasm-ld") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("linking needs wasm-ld: apt-get install lld")
    building.linked(objects, tmp_path / "again.wasm")
    q, k, v = numbers(0, 2, 40, 16), numbers(1, 2, 150, 16), numbers(2, 2, 150, 8)
    seen = []
    for module in (call, in_page(page, (tmp_path / "again.wasm").read_bytes())):
        with in_place_of_native(module):
            seen.append(el.observe(q, k, v, read=el.Entropy()))
    same_bits(seen[1].output, seen[0].output)
    same_bits(seen[1].entropy, seen[0].entropy)


# Attention.


def close(got, want, share=1e-4, part=3e-6):
    """Fails unless arrays agree to what roundings of multiply-adds change: a share of each number, or a part of the
    largest, if that is above 1."""
    largest = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=share, atol=part * largest, equal_nan=True)


#: The readouts whose results are arrays of numbers.
BY_NUMBER = {el.Entropy, el.Received, el.MeanDistance, el.OffsetMass, el.GroupMass, el.Pooled, el.Weights}


@in_a_browser
@given(st.data())
def test_any_call_gives_what_the_native_kernel_gives(call, data):
    case = data.draw(cases(magnitudes=(1e-2, 1.0)))
    q, k, v = (x.astype(np.float32) if x.dtype == np.float64 else x for x in (case.q, case.k, case.v))
    stack = data.draw(score_stacks(case.problem, functions=False))
    read = data.draw(readouts(case.problem))
    asked = {"mask": case.mask, "scale": case.scale, "scores": stack, "read": read}
    want = el.observe(q, k, v, **asked)
    with in_place_of_native(call):
        got = el.observe(q, k, v, **asked)
    close(got.lse, want.lse)
    close(got.output, want.output)
    for kind in BY_NUMBER & set(map(type, read)):
        close(got[kind], want[kind], part=3e-5)
    if el.TopK in want:
        close(got.top_k.weights, want.top_k.weights)


def test_weights_are_the_native_ones_to_a_millionth(call):
    q, k, v = numbers(0, 3, 150, 32), numbers(1, 3, 150, 32), numbers(2, 3, 150, 16)
    asked = {"mask": el.Causal(), "read": [el.Weights(), el.TopK(5)]}
    want = el.observe(q, k, v, **asked)
    with in_place_of_native(call):
        got = el.observe(q, k, v, **asked)
    assert np.abs(got.weights - want.weights).max() < 1e-6
    assert np.abs(got.output - want.output).max() < 2e-6
    assert np.array_equal(got.top_k.keys, want.top_k.keys)


# 16 bits.


def every_half():
    return np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)


def same_halves(got, want):
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan)
    same_bits(np.where(nan, 0, got), np.where(nan, 0, want))


def test_every_float16_is_widened_as_by_the_processor(call):
    W, one = every_half().reshape(-1, 1), np.ones((1, 1), np.float32)
    want = W.astype(np.float32).T
    with in_place_of_native(call):
        got = PackedMatrix([W]).times(one)
    same_halves(got, np.where(want == 0, np.float32(0), want))  # a sum that begins with 0 has no -0


@pytest.mark.parametrize("apart", [0, 1, 3, 1000, 0x7C00])
def test_means_are_narrowed_to_float16_as_by_the_processor(call, apart):
    """The means of numbers next to one another are halfway between two, or beyond the least of all."""
    with np.errstate(invalid="ignore"):
        v = np.stack([every_half(), np.roll(every_half(), apart)]).reshape(2, 64, 1024).transpose(1, 0, 2)
    q, k = np.zeros((64, 1, 4), np.float16), np.zeros((64, 2, 4), np.float16)
    want = el.observe(q, k, v, read=el.Entropy())
    with in_place_of_native(call):
        got = el.observe(q, k, v, read=el.Entropy())
    same_halves(got.output, want.output)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention_in_16_bits(call, dtype):
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(numbers(seed, 1, 2, 70, 24)).to(getattr(torch, dtype)) for seed in range(3))
    want = el.attention(q, k, v).float().numpy()
    bits = [x.view(torch.uint16).numpy().view("float16" if dtype == "float16" else "uint16") for x in (q, k, v)]
    if dtype == "bfloat16":
        from eyeline.kernels.attention_spec import AttentionSpec
        from eyeline.kernels.run import forward

        with in_place_of_native(call):
            found = forward(*bits, AttentionSpec(24**-0.5)).output
        got = torch.from_numpy(found).view(torch.bfloat16).float().numpy()
    else:
        with in_place_of_native(call):
            got = el.observe(*bits, read=el.Entropy()).output.astype(np.float32)
    assert np.abs(got - want).max() <= np.abs(want).max() * (2**-10 if dtype == "float16" else 2**-7)


# What a Transformer computes around attention.


@pytest.mark.parametrize("stored", ["float32", "float16"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_products(call, stored, activation):
    W, bias = numbers(0, 77, 140).astype(stored), numbers(1, 77)
    x, residual = numbers(2, 2, 65, 140), numbers(3, 2, 65, 77)

    def times():
        return PackedMatrix([W], [bias]).times(x, activation=activation, residual=residual)

    want = times()
    with in_place_of_native(call):
        got = times()
    assert np.abs(got - want).max() < 2e-5


def test_where_no_product_is_rounded_the_bits_are_the_native_ones(call):
    """Whole numbers: a multiply-add that rounds twice is then the same as one that rounds once."""
    rng = np.random.default_rng(0)
    W, bias, x = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((131, 257), (131,), (97, 257)))

    def times():
        return PackedMatrix([W], [bias]).times(x)

    want = times()
    with in_place_of_native(call):
        got = times()
    same_bits(got, want)


def test_products_of_joined_heads_and_gated_ones(call):
    heads, W = numbers(0, 2, 3, 5, 8), numbers(1, 9, 24)
    gate, up, x = numbers(2, 13, 24), numbers(3, 13, 24), numbers(4, 7, 24)

    def times():
        return PackedMatrix([W]).times_heads(heads), PackedMatrix.gated(gate, up).times(x, activation="silu")

    want = times()
    with in_place_of_native(call):
        got = times()
    for ours, theirs in zip(got, want, strict=True):
        assert np.abs(ours - theirs).max() < 1e-4


def test_row_passes(call):
    x, more, weight, bias = numbers(0, 2, 9, 37), numbers(1, 2, 9, 37), numbers(2, 37), numbers(3, 37)
    q, cos, sin = numbers(4, 1, 3, 11, 18), numbers(5, 11, 9), numbers(6, 11, 9)

    def passes():
        return (
            rowwise.layer_norm(x, weight, bias, 1e-5, residual=more),
            rowwise.root_mean_square_norm(x, weight, 1e-5),
            rowwise.rotate(q, cos, sin),
        )

    want = passes()
    with in_place_of_native(call):
        got = passes()
    for ours, theirs in zip(got, want, strict=True):
        assert np.abs(ours - theirs).max() < 5e-6

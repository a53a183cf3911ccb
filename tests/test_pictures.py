"""Pictures: a vision model's patches lie over the picture that it saw, in the trace, its file, and the page."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import eyeline as el
from eyeline.traces import TraceError
from eyeline.traces.image import LARGEST, Image, shrunk
from eyeline.traces.safetensors_file import StoredArrays, write_trace
from eyeline.views.page import Page
from eyeline.views.page.framing import framed
from eyeline.views.page.requests.request import RequestError
from tests.answers import Blocks

transformers = pytest.importorskip("transformers")
pillow = pytest.importorskip("PIL.Image")
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def made(family, side=(16, 16), patch=4, **options):
    """A small vision model with random weights."""
    import torch

    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**SIZES, image_size=side, patch_size=patch, **options)
    return getattr(transformers, f"{family}Model")(config).eval()


def processor(height=16, width=16, **options):
    return transformers.ViTImageProcessor(
        size={"height": height, "width": width}, image_mean=[0.5, 0.4, 0.3], image_std=[0.2, 0.25, 0.3], **options
    )


def drawn(height=16, width=16):
    """A picture in which every pixel differs from its neighbours."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 255 // width, y * 255 // height, (x + y) * 7 % 256], axis=-1).astype(np.uint8)


def test_the_picture_is_what_the_model_saw():
    pixels = drawn()
    (trace,) = el.record(pixels, model=made("ViT"), processor=processor())
    np.testing.assert_array_equal(trace.image.pixels, pixels)  # of the right size: normalization alone was undone
    assert trace.image.entry == {"rows": 4, "columns": 4, "first": 1}
    assert len(trace.queries) == 17
    assert trace.queries.pieces[:3] == ("[CLS]", "row 0, column 0", "row 0, column 1")
    assert trace.queries.pieces[-1] == "row 3, column 3"
    assert trace.queries.aside == (0,)
    np.testing.assert_allclose(trace.layers[1].weights.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.measures.aside[0], trace.layers[0].weights[:, :, 0].mean(1), atol=1e-6)


def test_a_path_an_array_and_a_picture_are_the_same(tmp_path):
    pillow.fromarray(drawn(20, 24)).save(tmp_path / "drawn.png")
    model = made("ViT")
    given = [str(tmp_path / "drawn.png"), tmp_path / "drawn.png", drawn(20, 24), pillow.fromarray(drawn(20, 24))]
    traces = [el.record(one, model=model, processor=processor())[0] for one in given]
    for trace in traces[1:]:
        np.testing.assert_array_equal(trace.image.pixels, traces[0].image.pixels)
        np.testing.assert_array_equal(trace.layers[0].q, traces[0].layers[0].q)
    grey = el.record(np.full((16, 16), 128, np.uint8), model=model, processor=processor())[0]
    assert np.abs(grey.image.pixels.astype(int) - 128).max() <= 1


def test_patches_need_not_be_square_in_number():
    (trace,) = el.record(drawn(8, 24), model=made("ViT", side=(8, 24)), processor=processor(8, 24))
    assert trace.image.entry == {"rows": 2, "columns": 6, "first": 1}
    assert trace.queries.pieces[7] == "row 1, column 0"


def test_registers_stand_before_the_patches():
    model = made("Dinov2WithRegisters", side=16, num_register_tokens=3)
    (trace,) = el.record(drawn(), model=model, processor=processor())
    assert trace.image.first == 4
    assert trace.queries.pieces[:5] == ("[CLS]", "[REG 0]", "[REG 1]", "[REG 2]", "row 0, column 0")
    assert trace.queries.aside == (0, 1, 2, 3)


def test_a_large_picture_is_kept_smaller():
    large = np.zeros((600, 1200, 3))
    large[:, ::2] = 1
    small = shrunk(large)
    assert small.shape == (256, 512, 3)
    assert 100 < small.mean() < 155  # means, not single pixels
    assert shrunk(np.full((4, 4, 3), 2.0)).max() == 255


def test_the_png_is_the_picture():
    pixels = drawn(5, 7)
    with pillow.open(io.BytesIO(Image(pixels, 1, 1, 0).png())) as read:
        np.testing.assert_array_equal(np.asarray(read), pixels)


def test_its_file_holds_the_picture(tmp_path):
    (trace,) = el.record(drawn(), model=made("ViT"), processor=processor())
    trace.save(tmp_path / "picture.safetensors")
    again = el.load_trace(tmp_path / "picture.safetensors")
    np.testing.assert_array_equal(again.image.pixels, trace.image.pixels)
    assert again.image.entry == trace.image.entry
    assert again.queries == trace.queries


@pytest.mark.parametrize(
    ("entry", "shape", "message"),
    [
        ({"rows": 4, "columns": 5, "first": 1}, (16, 16, 3), "image.rows must be such that first"),
        ({"rows": 0, "columns": 4, "first": 1}, (16, 16, 3), "image.rows must be a whole number from 1"),
        ({"rows": 4, "columns": 4, "first": -1}, (16, 16, 3), "image.first must be a whole number from 0"),
        ({"rows": 4, "columns": 4, "first": 1}, (16, 16), "image must be of shape"),
        ({"rows": 4, "columns": 4, "first": 1}, (LARGEST + 1, 4, 3), "image must be of shape"),
        ({"rows": 4, "columns": 4, "first": 1}, (3, 16, 3), "image must be of shape"),
        ([1], (16, 16, 3), "image must be an object"),
    ],
)
def test_an_impossible_picture_is_refused(tmp_path, entry, shape, message):
    (trace,) = el.record(drawn(), model=made("ViT"), processor=processor())
    path = tmp_path / "picture.safetensors"
    trace.save(path)
    stored = StoredArrays(path)
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    kinds = {"F32": np.float32, "U8": np.uint8, "I32": np.int32}
    arrays = {
        name: np.zeros(one["shape"], kinds[one["dtype"]]) for name, one in header.items() if name != "__metadata__"
    }
    write_trace(path, {**arrays, "image": np.zeros(shape, np.uint8)}, {**stored.about, "image": entry})
    with pytest.raises(TraceError, match=message):
        el.load_trace(path)


def test_the_page_asks_for_it(tmp_path):
    (trace,) = el.record(drawn(), model=made("ViT"), processor=processor())
    text = el.record("time flies")
    page = Page([text, trace])
    assert [entry["image"] for entry in page.header()["traces"]] == [None, {"rows": 4, "columns": 4, "first": 1}]
    reply, (data,) = page.answer({"id": 3, "kind": "image", "trace": 1})
    assert reply == {"id": 3, "kind": "image", "media": "image/png", "width": 16, "height": 16}
    assert bytes(data) == trace.image.png()
    with pytest.raises(RequestError, match="trace must be of a picture"):
        page.answer({"id": 3, "kind": "image", "trace": 0})
    page.save(tmp_path / "page.html")
    found = Blocks((tmp_path / "page.html").read_bytes())
    assert "image-0" not in found.found
    assert found.bytes("image-1") == framed(*page.answer({"id": 0, "kind": "image", "trace": 1}))


@pytest.mark.parametrize(
    ("picture", "options", "error", "message"),
    [
        (drawn().astype(np.float32), {}, TraceError, "picture must be a path, .* got float32 of shape"),
        ({"pixel_values": 1}, {}, TraceError, "picture must be a path, .* got dict"),
        ("nowhere.png", {}, FileNotFoundError, "nowhere.png"),
        (drawn(), {"tokenizer": object()}, TraceError, "tokenizer and target must be left out with a processor"),
        (drawn(), {"processor": "vit"}, TraceError, "processor must be called with a picture, got 'vit'"),
        (drawn(), {"processor": None}, TraceError, "text must be a string, or a dict .* processor=AutoImageProcessor"),
        (drawn(), {"mask": "causal"}, TraceError, "mask and scale must be left out with a model of transformers"),
    ],
)
def test_what_is_no_picture_is_refused(picture, options, error, message):
    with pytest.raises(error, match=message):
        el.record(picture, model=made("ViT"), **{"processor": processor(), **options})


def test_a_model_without_a_token_for_each_patch_is_refused():
    model = made("ViT")
    model.config.patch_size = 2
    with pytest.raises(TraceError, match="one token for each patch of a picture, got 17 tokens for 8 × 8 patches"):
        el.record(drawn(), model=model, processor=processor())

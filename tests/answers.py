"""What a page makes of its host's answers, and a file's blocks, in NumPy: for the tests of `eyeline.views.page`."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np

_BLOCK = re.compile(r'<script type="application/octet-stream" id="eyeline-([\w-]+)">([^<]*)</script>')


def weights_of(page, trace: int, layer: int, head: int) -> np.ndarray:
    """One head's weights as the page computes them, from the answer to its request."""
    reply, buffers = page.answer({"id": 7, "kind": "head", "trace": trace, "layer": layer, "head": head})
    kinds = {"lse": "<f4", "bounds": "<i4", "allowed": "u1"}
    arrays = {
        name: np.frombuffer(buffer, kinds.get(name, "<f4"))
        for name, buffer in zip(reply["arrays"], buffers, strict=True)
    }
    return weights_from(
        page.header()["traces"][trace]["layers"][layer], reply["shape"], arrays, reply.get("mask_shape")
    )


def weights_from(entry, shape, arrays, mask_shape) -> np.ndarray:
    """exp(scale·q·k - lse) where a query may look, else 0."""
    N, M, D = (shape[name] for name in "NMD")
    q, k = (arrays[name].astype(np.float64).reshape(-1, D) for name in "qk")
    j, kind = np.arange(M), entry["mask"]["kind"]
    allowed = np.ones((N, M), bool)
    if kind == "causal":
        allowed = j <= np.arange(N)[:, None]
    elif kind == "bounds":
        bounds = arrays["bounds"].reshape(mask_shape)[:, None]
        allowed = np.broadcast_to(((bounds[..., 0] <= j[:, None]) & (j[:, None] < bounds[..., 1])).any(axis=-1), (N, M))
    elif kind == "bits":
        allowed = arrays["allowed"].reshape(mask_shape) == 1
    lse = np.where(np.isneginf(arrays["lse"]), 0, arrays["lse"])[:, None]
    exponents = np.where(allowed, entry["scale"] * (q @ k.T) - lse, -np.inf)
    return np.exp(exponents)


class Blocks:
    """The blocks of a page's file."""

    def __init__(self, data: bytes) -> None:
        self.text = data.decode()
        self.found = dict(_BLOCK.findall(self.text))
        self.header, self.contents = json.loads(self.bytes("header"))

    def bytes(self, name: str) -> bytes:
        return zlib.decompress(base64.b64decode(self.found[name], validate=True), -15)

    def weights(self, trace: int, layer: int, head: int) -> np.ndarray:
        """One head's weights, from the file alone."""
        entry, contents = self.header["traces"][trace], self.contents["traces"][trace]
        sizes = entry["model"]
        H, G, D = sizes["heads"], sizes["key_heads"], sizes["head_dim"]
        N, M = len(entry["queries"]["ids"]), len((entry["keys"] or entry["queries"])["ids"])
        E = sizes["value_dim"] if entry["values"] else 0
        data = np.frombuffer(self.bytes(f"layer-{trace}-{layer}"), np.uint8)
        counts = np.cumsum([H * N * D, G * M * D, G * M * E])
        if self.contents["dtype"] == "float32":
            numbers = np.split(_of_planes(data, 4).view("<f4"), counts)
        else:
            end = 2 * counts[-1]
            numbers = [
                *np.split(_of_planes(data[:end], 2).view("<f2"), counts[:2]),
                _of_planes(data[end:], 4).view("<f4"),
            ]
        group = head // (H // G)
        arrays = {
            "q": numbers[0].reshape(H, N, D)[head],
            "k": numbers[1].reshape(G, M, D)[group],
            "lse": numbers[3].reshape(H, N)[head],
        }
        place, shape = contents["masks"][layer], None
        if place is not None:
            heads, *shape = contents["mask_shapes"][place]
            kind = entry["layers"][layer]["mask"]["kind"]
            mask = np.frombuffer(self.bytes(f"mask-{trace}-{place}"), "<i4" if kind == "bounds" else "u1")
            mask = mask.reshape(heads, -1)[head if heads > 1 else 0]
            arrays["bounds" if kind == "bounds" else "allowed"] = mask
        return weights_from(entry["layers"][layer], {"N": N, "M": M, "D": D}, arrays, shape)


def _of_planes(data: np.ndarray, size: int) -> np.ndarray:
    """Numbers from their lowest bytes, then the next ones, and so on; the lowest bit of each is its sign."""
    turned = np.ascontiguousarray(data.reshape(size, -1).T).reshape(-1).view(f"<u{size}")
    return (turned >> 1) | (turned << (8 * size - 1))

"""The page's model in a browser: its weights from Python, and how far what it computes is from Python's."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.views.page import joining

_MODULES = ("kernel/kernel.js", "kernel/module.js", "live/model/model.js")
#: What the page has beside the modules' exports: reading arrays, and comparing runs.
_TOOLS = """
const KINDS = { int8: Int8Array, float32: Float32Array, float16: Uint16Array, uint8: Uint8Array };
room.given = {};
room.take = async (name, about, places) => {
  const bytes = await document.querySelector("input").files[0].arrayBuffer();
  const arrays = places.map(([one, kind, at, length]) => [one, new KINDS[kind](bytes, at, length)]);
  room.given[name] = { about, arrays: Object.fromEntries(arrays) };
};
room.files = (given) => {
  const { about, arrays } = room.given[given];
  const tensors = about.tensors.map(([name, shape, kinds]) => [
    name, { shape, ...Object.fromEntries(kinds.map((kind) => [kind, arrays[`${name} ${kind}`]])) },
  ]);
  return { name: about.name, config: { ...about.config }, tensors: Object.fromEntries(tensors), tokenizer: {} };
};
/** The largest difference, in units of what is allowed: 1e-5, and for large numbers a float32's last bits. */
room.far = (found, wanted) => {
  if (found.length !== wanted.length) return `${found.length} numbers, not ${wanted.length}`;
  const off = wanted.map((number, at) => Math.abs(found[at] - number) / (1e-5 + 1e-6 * Math.abs(number)));
  return off.reduce((most, one) => (one <= most ? most : one), 0);
};
room.apart = (run, wanted, prefix = "") => {
  const named = run.layers.flatMap(({ q, k, v, lse, output }, at) =>
    Object.entries({ q, k, v, lse, output }).map(([name, numbers]) => [`${prefix}${name}${at}`, numbers]));
  run.states.forEach((numbers, at) => named.push([`${prefix}state${at}`, numbers]));
  return Object.fromEntries(
    named.filter(([name]) => wanted[name]).map(([name, numbers]) => [name, room.far(numbers, wanted[name])]));
};
room.edits = (given, arrays) => (kind, layer, N, M) => {
  const { flat, gates, factors, masks } = given[`${kind} ${layer}`] ?? {};
  return {
    flat, gates,
    factors: factors?.map(({ by, columns }) => ({
      by: Float32Array.from(by.slice(0, N)), columns: Uint8Array.from(columns.slice(0, M)),
    })),
    masks: masks?.map((mask) => mask && {
      kind: "bits", values: Uint8Array.from(mask.slice(0, N).flatMap((row) => row.slice(0, M))),
    }),
  };
};
"""


class ModelPage:
    """A page with the model's modules, and what Python gives it.

    Args:
        context: of a browser, offline.
        folder: for what is given: a file is the quickest way into a page.
    """

    def __init__(self, context: Any, folder: Path) -> None:
        self._path = folder / "given.bin"
        self._numbers = itertools.count()
        self.page = context.new_page()
        self.page.set_content('<input type="file">')
        parts = joining._joined([*_MODULES], joining.HERE, "", joining.WORKER)
        rooms = ", ".join(f"...{joining._identifier(name)}" for name in _MODULES)
        text = joining.bare(f"{parts}globalThis.room = {{ {rooms} }};\n")
        self.page.evaluate(f"(text) => {{ (0, eval)(text); {_TOOLS} }}", text)
        self.page.evaluate("async () => { room.kernel = await room.Kernel.start(await room.compiledModule()); }")

    def give(self, arrays: Mapping[str, NDArray[Any]], about: Any = None) -> str:
        """Give the page arrays: the name of them all in `room.given`."""
        name = f"given{next(self._numbers)}"
        places, data = [], bytearray()
        for one, array in arrays.items():
            places.append([one, str(array.dtype), len(data), array.size])
            data += np.ascontiguousarray(array).tobytes()
            data += bytes(-len(data) % 8)
        self._path.write_bytes(data)
        self.page.set_input_files("input", self._path)
        self.page.evaluate("(given) => room.take(...given)", [name, about, places])
        return name

    def files(self, config: Any, tensors: Mapping[str, Mapping[str, NDArray[Any]]]) -> str:
        """Give the page a model's files, of each tensor its arrays by their kind: the name of them."""
        about = [[name, list(next(iter(stored.values())).shape), list(stored)] for name, stored in tensors.items()]
        arrays = {f"{name} {kind}": array for name, stored in tensors.items() for kind, array in stored.items()}
        return self.give(arrays, {"name": "given", "config": config, "tensors": about})

    def run(self, body: str, *given: Any) -> Any:
        """What an async function of JavaScript returns, whose arguments are `given`, as g[0], g[1], …"""
        return self.page.evaluate(f"async (g) => {{ {body} }}", list(given))

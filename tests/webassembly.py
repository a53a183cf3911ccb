"""The WebAssembly module in a native kernel's place: calls are laid out by Python as ever, for the module's vectors,
and run in a browser, on a copy of all memory that they reach; what the module wrote is copied back."""

from __future__ import annotations

import base64
import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

from eyeline.attention import plans
from eyeline.kernels import products, rowwise, run, threads
from eyeline.kernels.launch import Params
from eyeline.kernels.layouts import whole_lines
from eyeline.kernels.machine import WEBASSEMBLY

#: Where the host's memory begins.
BEGIN = 1 << 16
#: `call(program, memory, params, workspace, size)`: runs all tasks in a memory that begins with `memory` at `BEGIN`;
#: returns it as it is then.
Call = Callable[[str, bytes, int, int, int], bytes]

COMPILED = """async (text) =>
  WebAssembly.compile(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)))"""
IN_A_PAGE = """async ([module, program, memory, params, workspace, size]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const held = new WebAssembly.Memory({ initial: Math.ceil(size / 65536) });
  const { exports } = await WebAssembly.instantiate(module, { env: { memory: held } });
  const begin = exports.__heap_base.value;
  const given = bytes(memory);
  new Uint8Array(held.buffer).set(given, begin);
  const left = exports[program](BigInt(params), BigInt(workspace), 1n << 40n);
  const found = new Uint8Array(held.buffer, begin, given.length);
  const parts = [];
  for (let at = 0; at < found.length; at += 32768) parts.push(String.fromCharCode(...found.subarray(at, at + 32768)));
  return [String(left), btoa(parts.join(""))];
}"""


def in_page(page: Any, module: bytes) -> Call:
    """Calls of a module in a browser's page."""
    compiled = page.evaluate_handle(COMPILED, base64.b64encode(module).decode())

    def call(program: str, memory: bytes, params: int, workspace: int, size: int) -> bytes:
        text = base64.b64encode(memory).decode()
        left, found = page.evaluate(IN_A_PAGE, [compiled, program, text, params, workspace, size])
        assert left == "0", "all tasks are done"
        return base64.b64decode(found)

    return call


@contextlib.contextmanager
def in_place_of_native(call: Call) -> Iterator[None]:
    """Inside, passes over the matrix (but decoding and small calls), products and row passes run in WebAssembly."""
    seen: list[np.ndarray] = []

    def memory_of(*arrays: np.ndarray) -> Any:
        seen.extend(arrays)
        return actual_memory_of(*arrays)

    def address_of(array: np.ndarray) -> int:
        seen.append(array)
        return actual_address_of(array)

    def launch(params: Params, workers: int, most: int) -> None:
        moved(call, params.program, params._memory, params.workspace_size, [params.held, seen])
        seen.clear()

    def run_tasks(program: str, memory: bytearray, workspace: int, cost: int, workers: int, held: object) -> None:
        moved(call, program, memory, workspace, held)

    actual_memory_of, actual_address_of = run.memory_of, run.address_of
    before = threads.get_threads()
    with (
        patch.object(run, "target", lambda: WEBASSEMBLY),
        patch.object(products, "target", lambda: WEBASSEMBLY),
        patch.object(run, "memory_of", memory_of),
        patch.object(run, "address_of", address_of),
        patch.object(Params, "launch", launch),
        patch.object(run.run_decode, "eligible", lambda *_: False),
        patch.object(products, "run_tasks", run_tasks),
        patch.object(rowwise, "run_tasks", run_tasks),
    ):
        plans.forget()
        threads.set_threads(1)
        try:
            yield
        finally:
            plans.forget()
            threads.set_threads(before)


def moved(call: Call, program: str, params: bytearray, workspace: int, held: object) -> None:
    """Run a call in WebAssembly's memory."""
    arrays: dict[int, np.ndarray] = {}
    reached(held, arrays, {})
    places, end = {}, BEGIN
    for address, array in arrays.items():
        places[address] = end
        end += whole_lines(array.nbytes)
    at, words = end, np.frombuffer(bytes(params), np.int64).copy()
    end += whole_lines(len(params))
    memory = bytearray(end - BEGIN)
    for address, array in arrays.items():
        content = ctypes.string_at(address, array.nbytes)
        if array.dtype.names:  # a table of records, with addresses
            table = np.frombuffer(content, np.int64).copy()
            relocate(table, arrays, places)
            content = table.tobytes()
        start = places[address] - BEGIN
        memory[start : start + array.nbytes] = content
    relocate(words, arrays, places)
    memory[at - BEGIN : at - BEGIN + len(params)] = words.tobytes()
    found = call(program, bytes(memory), at, end, end + workspace + 64)
    for address, array in arrays.items():
        start = places[address] - BEGIN
        if array.flags.writeable and not array.dtype.names:
            ctypes.memmove(address, found[start : start + array.nbytes], array.nbytes)
    params[:16] = found[at - BEGIN : at - BEGIN + 16]  # the next task, and the pairs computed


def relocate(words: np.ndarray, arrays: dict[int, np.ndarray], places: dict[int, int]) -> None:
    """Replace addresses into arrays by those of their copies."""
    for i, word in enumerate(words.tolist()):
        for address, array in arrays.items():
            if address <= word < address + array.nbytes:
                words[i] = places[address] + word - address


def reached(thing: object, arrays: dict[int, np.ndarray], seen: dict[int, object]) -> None:
    """Collect the memory of all arrays that an object refers to; `seen` keeps what has an id in it alive."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        if thing.base is not None and thing.dtype != object:
            thing = np.asarray(thing)
        if thing.nbytes:
            arrays[thing.ctypes.data] = thing
    elif isinstance(thing, (list, tuple)):
        for one in thing:
            reached(one, arrays, seen)
    elif isinstance(thing, dict):
        reached(list(thing.values()), arrays, seen)
    elif type(thing).__module__.startswith("eyeline"):
        reached(list(getattr(thing, "__dict__", {}).values()), arrays, seen)

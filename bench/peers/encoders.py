"""MiniLM in other libraries, from the same file: transformers on torch's SDPA, ONNX Runtime and OpenVINO, float32.

Each maker returns a function from padded ids, (B, N), and their lengths, (B,), to the tokens' vectors after the last
layer, (B, N, width).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.caches import cache_folder

States = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]


def sdpa(folder: Path, threads: int) -> States:
    import torch
    import transformers

    torch.set_num_threads(threads)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="sdpa", dtype=torch.float32).eval()

    @torch.inference_mode()
    def states(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        # Without a mask where nothing is padded: with one, transformers spends some time on finding that out.
        mask = None if (lengths == ids.shape[1]).all() else torch.from_numpy(real(ids, lengths))
        found: Any = model(input_ids=torch.from_numpy(ids), attention_mask=mask)
        return found.last_hidden_state.numpy()

    return states


def onnx_runtime(folder: Path, threads: int) -> States:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(exported(folder), options, providers=["CPUExecutionProvider"])

    def states(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        return session.run(None, {"input_ids": ids, "attention_mask": real(ids, lengths)})[0]

    return states


def openvino(folder: Path, threads: int) -> States:
    from openvino import Core

    settings = {
        "INFERENCE_NUM_THREADS": str(threads),
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
    }
    compiled = Core().compile_model(str(exported(folder)), "CPU", settings)
    request = compiled.create_infer_request()

    def states(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        # Without a copy of the result, which is read before the next run.
        return request.infer([ids, real(ids, lengths)], share_inputs=True, share_outputs=True)[0]

    return states


def real(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 for a real token, 0 for padding, (B, N)."""
    return (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)


def exported(folder: Path) -> Path:
    """The model as an ONNX file of any batch and length, made once by torch's exporter."""
    path = cache_folder() / "bench" / f"{folder.name}.onnx"
    if path.exists():
        return path
    import onnxscript  # noqa: F401  # which the exporter needs: named if it isn't installed
    import torch
    import transformers

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    ids = torch.randint(1000, 20000, (2, 16))
    mask = torch.ones_like(ids)
    mask[0, 10:] = 0
    axes = {0: torch.export.Dim("batch", max=512), 1: torch.export.Dim("tokens", min=2, max=512)}
    names = ["input_ids", "attention_mask"]
    program = torch.onnx.export(Model(), (ids, mask), dynamo=True, dynamic_shapes=(axes, axes), input_names=names)
    path.parent.mkdir(parents=True, exist_ok=True)
    program.save(str(path))
    return path

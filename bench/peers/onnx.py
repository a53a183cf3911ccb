"""ONNX Runtime: its own operator MultiHeadAttention, and the standard operator Attention (opset 23)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper

import eyeline as el
from bench.problem import Arrays, Problem, Way


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    if problem.mask not in (None, el.Causal()):
        raise NotImplementedError(f"no ONNX graph is written for {problem.mask!r}")
    B, H, N, D = problem.shape
    causal = int(problem.mask is not None)
    standard = helper.make_node("Attention", ["q", "k", "v"], ["y"], is_causal=causal)
    own = helper.make_node(
        "MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", num_heads=H, unidirectional=causal
    )
    rng = np.random.default_rng(0)
    rows, width, outputs = problem.projection
    shapes = {"x": (rows, width), "w": (width, outputs)}
    projected = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    by_head = {"q": arrays.q, "k": arrays.k, "v": arrays.v}
    by_token = {name: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(B, N, H * D) for name, x in by_head.items()}
    found = []
    for name, node, inputs in (("Attention", standard, by_head), ("MultiHeadAttention", own, by_token)):
        for spinning in (False, True):
            session = _session(node, inputs | projected, spinning)
            attend = inputs | projected | {"project": np.array(False)}
            project = attend | {"project": np.array(True)}

            def call(session=session, feed=attend) -> NDArray[Any]:
                return session.run(None, feed)[0]

            def product(session=session, feed=project) -> object:
                return session.run(None, feed)

            def answers(output: NDArray[Any]) -> dict[str, NDArray[Any]]:
                heads = output if output.ndim == 4 else output.reshape(B, N, H, D).transpose(0, 2, 1, 3)
                return {"output": heads}

            found.append(Way(f"{name}{', spinning' * spinning}", call, answers, product))
    return found


def _session(node: Any, inputs: dict[str, NDArray[Any]], spinning: bool) -> onnxruntime.InferenceSession:
    """A session of one graph, which does either: the projection x · w, or the node.

    Every session has threads of its own, so the product in a session of its own would be in other threads.
    """
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name, x in inputs.items()]
    either = {
        "then_branch": helper.make_node("MatMul", ["x", "w"], ["y"]),
        "else_branch": node,
    }
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    branches = {name: helper.make_graph([does], name, [], [result]) for name, does in either.items()}
    choice = helper.make_tensor_value_info("project", TensorProto.BOOL, [])
    chosen = helper.make_node("If", ["project"], ["result"], **branches)
    output = helper.make_tensor_value_info("result", TensorProto.FLOAT, None)
    graph = helper.make_graph([chosen], "attention", [choice, *values], [output])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = len(os.sched_getaffinity(0))
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spinning)))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

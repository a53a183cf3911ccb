"""JAX on the CPU, compiled: `jax.nn.dot_product_attention` and the formula written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import eyeline as el
from bench.problem import Arrays, Problem, Way


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    if problem.mask not in (None, el.Causal()):
        raise NotImplementedError(f"nothing is written in JAX for {problem.mask!r}")
    causal = problem.mask is not None
    inputs = arrays.q, arrays.k, arrays.v
    allowed = jnp.tril(jnp.ones(problem.matrix_shape[2:], bool))

    def formula(q: Any, k: Any, v: Any) -> Any:
        s = jnp.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        weights = jax.nn.softmax(jnp.where(allowed, s, -jnp.inf) if causal else s)
        return jnp.einsum("bhij,bhjd->bhid", weights, v)

    own = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=causal))
    rng = np.random.default_rng(0)
    rows, width, outputs = problem.projection
    x, projection = (jnp.asarray(rng.standard_normal(sizes, np.float32)) for sizes in ((rows, width), (width, outputs)))
    multiplied = jax.jit(jnp.matmul)

    def product() -> object:
        return multiplied(x, projection).block_until_ready()

    return [
        _way("dot_product_attention", own, [x.transpose(0, 2, 1, 3) for x in inputs], product, by_token=True),
        _way("formula", jax.jit(formula), inputs, product, by_token=False),
    ]


def _way(name: str, function: Any, inputs: Any, product: Callable[[], object], by_token: bool) -> Way:
    there = [jnp.asarray(x) for x in inputs]
    return Way(
        name,
        lambda: function(*there).block_until_ready(),
        lambda y: {"output": np.asarray(y).transpose(0, 2, 1, 3) if by_token else np.asarray(y)},
        product,
    )

"""Self- and cross-attention: what they compute, grouped heads, rotary positions, and the cache."""

from __future__ import annotations

import pytest
import torch

import eyeline as el
from eyeline.torch import Cache, CrossAttention, SelfAttention
from eyeline.torch.modules import rotations, turned


def sequence(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


@pytest.mark.parametrize("key_heads", [None, 1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_is_the_formula(key_heads, causal):
    layer = SelfAttention(16, 4, key_heads=key_heads, causal=causal, dtype=torch.float64)
    x = sequence(2, 5, 16)
    q, k, v = (project(x).unflatten(-1, (-1, 4)).transpose(1, 2) for project in (layer.query, layer.key, layer.value))
    k, v = (y.repeat_interleave(4 // y.shape[1], dim=1) for y in (k, v))
    scores = q @ k.mT / 2
    if causal:
        scores = scores.masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf)
    want = layer.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(x), want)
    torch.testing.assert_close(layer(x[0]), want[0])


def test_cross_attention_is_the_formula():
    layer = CrossAttention(8, 2, context_width=6, bias=False, dtype=torch.float64)
    x, context = sequence(3, 4, 8), sequence(3, 5, 6)
    q, k, v = (
        project(y).unflatten(-1, (2, 4)).transpose(1, 2)
        for project, y in ((layer.query, x), (layer.key, context), (layer.value, context))
    )
    want = layer.output(((q @ k.mT / 2).softmax(-1) @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(x, context), want)


def test_rotary_scores_depend_on_distance_alone():
    q, k = sequence(8), sequence(2, 8)[1]
    table = rotations(0, 40, 8, None)
    turned_q, turned_k = (turned(x.expand(40, 8), *(t.double() for t in table)) for x in (q, k))
    scores = turned_q @ turned_k.T
    for distance in (0, 1, 7):
        along = scores.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand(len(along)), atol=1e-5, rtol=0)
    torch.testing.assert_close(turned_q.norm(dim=-1), q.norm().expand(40), atol=1e-6, rtol=0)


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("chunks", [(1,) * 8, (5, 3), (8,), (3, 0, 5)])
def test_decoding_in_chunks_equals_the_whole(rotary, chunks):
    layer = SelfAttention(16, 4, key_heads=2, rotary=rotary, causal=True, dtype=torch.float64).eval()
    x = sequence(2, 8, 16)
    cache = Cache()
    with torch.no_grad():
        parts = [layer(part, cache=cache) for part in x.split(chunks, dim=1)]
        torch.testing.assert_close(torch.cat(parts, dim=1), layer(x))
    assert len(cache) == 8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_attention_over_a_cache_has_the_bits_of_prefill(dtype):
    """Of the same queries, keys and values; PyTorch's projections of one token and of many may differ in a bit."""
    q, k, v = (sequence(2, heads, 130, 8, dtype=dtype) + seed for seed, heads in enumerate((4, 2, 2)))
    whole = el.attention(q, k, v, mask=el.Causal())
    cache = Cache()
    for at in range(130):
        token = slice(at, at + 1)
        keys, values = cache.append(k[:, :, token], v[:, :, token])
        assert torch.equal(el.attention(q[:, :, token], keys, values, mask=el.Causal("end")), whole[:, :, token])


def test_a_cache_of_the_context():
    layer = CrossAttention(8, 2).eval()
    x, context = sequence(1, 4, 8, dtype=torch.float32), sequence(1, 6, 8, dtype=torch.float32)
    cache = Cache()
    with torch.no_grad():
        first = layer(x, context, cache=cache)
        assert torch.equal(layer(x, cache=cache), first)
        assert torch.equal(layer(x, context), first)
        with pytest.raises(ValueError, match="context must be given once, to the call or in the cache, got both"):
            layer(x, context, cache=cache)
    with pytest.raises(ValueError, match="context must be given once, to the call or in the cache, got none"):
        layer(x)


def test_what_is_observed():
    layer = SelfAttention(16, 4, causal=True, dtype=torch.float64)
    x = sequence(2, 7, 16)
    output, seen = layer.observe(x, read=[el.Entropy(), el.TopK(3)], mask=el.Window(2), scores=el.Alibi())
    for training in (True, False):
        layer.train(training)
        assert torch.equal(output, layer(x, mask=el.Window(2), scores=el.Alibi()))
        again, found = layer.observe(x, read=[el.Entropy(), el.TopK(3)], mask=el.Window(2), scores=el.Alibi())
        assert torch.equal(again, output)
        assert torch.equal(found.entropy, seen.entropy)
    assert seen.entropy.shape == (2, 4, 7)
    cross = CrossAttention(16, 4, dtype=torch.float64)
    output, seen = cross.observe(x, x[:, :3], read=el.Received())
    assert torch.equal(output, cross(x, x[:, :3]))
    assert seen.received.shape == (2, 4, 3)


def test_trained_with_dropout_and_compiled():
    layer = SelfAttention(16, 4, key_heads=2, rotary=True, causal=True, dropout=0.3)
    x = sequence(2, 7, 16, dtype=torch.float32)
    torch._dynamo.reset()
    losses = []
    for run in (layer, torch.compile(layer, fullgraph=True, backend="aot_eager")):
        torch.manual_seed(0)
        loss = run(x).square().sum()
        losses.append((loss, *torch.autograd.grad(loss, layer.parameters())))
    torch.testing.assert_close(*losses)


def test_wrong_input():
    with pytest.raises(ValueError, match="heads must divide the width, 16, got 3"):
        SelfAttention(16, 3)
    with pytest.raises(ValueError, match="key_heads must divide heads, 4, got 3"):
        SelfAttention(16, 4, key_heads=3)
    with pytest.raises(ValueError, match="rotary must have an even head width, got 3"):
        SelfAttention(12, 4, rotary=True)
    with pytest.raises(ValueError, match="dropout must be a number from 0 to below 1, got 1"):
        CrossAttention(12, 4, dropout=1)
    cache = Cache()
    with pytest.raises(ValueError, match="cache must hold something, got an empty one"):
        cache.all()
    with pytest.raises(ValueError, match="k and v must need no gradient where a cache keeps them"):
        cache.append(sequence(1, 1, 1, 2).requires_grad_(), sequence(1, 1, 1, 2))
    cache.append(sequence(1, 2, 1, 4), sequence(1, 2, 1, 4))
    with pytest.raises(ValueError, match=r"k must be .1, 2, .n., 4. of torch.float64, got .2, 2, 1, 4."):
        cache.append(sequence(2, 2, 1, 4), sequence(2, 2, 1, 4))
    assert len(cache) == 1

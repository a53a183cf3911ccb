"""`torch.func`'s transforms, forward mode and autocast: what they do to attention is what they do to the formula."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from tensors import MASKS, READOUTS, inputs, numbers, parameters, scores, seen
from torch.autograd import forward_ad

import eyeline as el
import eyeline.torch as et

WAYS = {"kernels": nullcontext, "portable": et.portable}
ways = pytest.mark.parametrize("way", WAYS)
SLOPES = torch.tensor([0.3, -0.2], dtype=torch.float64)


def ours(q, k, v, slopes=SLOPES):
    return el.attention(q, k, v, mask=el.Causal("end"), scores=el.Alibi(slopes, "end"))


def formula(q, k, v, slopes=SLOPES):
    i, j = torch.arange(q.shape[-2])[:, None] + k.shape[-2] - q.shape[-2], torch.arange(k.shape[-2])
    s = q @ k.mT / q.shape[-1] ** 0.5 - slopes[:, None, None] * (i - j).abs()
    return torch.softmax(s.masked_fill(i < j, -torch.inf), -1) @ v


def given():
    return *(x.detach() for x in inputs(groups=2)), SLOPES


def along():
    return tuple(torch.randn(x.shape, dtype=x.dtype, generator=torch.Generator().manual_seed(5)) for x in given())


def in_dual_numbers(f):
    with forward_ad.dual_level():
        pairs = [forward_ad.make_dual(x, t) for x, t in zip(given(), along(), strict=True)]
        return forward_ad.unpack_dual(f(*pairs)).tangent


def of_a_batch(f):
    q, k, v, _ = given()
    return torch.func.vmap(f, in_dims=(0, None, 1))(torch.stack([q, 2 * q]), k, torch.stack([v, v + 1], 1))


def loss(f):
    return lambda *x: f(*x).sin().sum()


TRANSFORMS = {
    "grad": lambda f: torch.func.grad(loss(f), argnums=(0, 1, 2, 3))(*given()),
    "vjp": lambda f: torch.func.vjp(f, *given())[1](torch.ones(2, 2, 3, 3, dtype=torch.float64)),
    "jacrev": lambda f: torch.func.jacrev(f, argnums=(0, 3))(*given()),
    "jvp": lambda f: torch.func.jvp(f, given(), along()),
    "jacfwd": lambda f: torch.func.jacfwd(f, argnums=(1, 3))(*given()),
    "forward_ad": in_dual_numbers,
    "vmap": of_a_batch,
    "vmap of grad": lambda f: torch.func.vmap(torch.func.grad(loss(f)))(*(torch.stack([x, x + 1]) for x in given())),
}


@ways
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_do_what_they_do_to_the_formula(name, way):
    with WAYS[way]():
        got = TRANSFORMS[name](ours)
    torch.testing.assert_close(got, TRANSFORMS[name](formula), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mask", ["none", "joined", "where"])
@pytest.mark.parametrize("changes", ["none", "all", "derivative", "function"])
def test_forward_and_backward_derivatives_are_adjoint(mask, changes):
    """Of everything that is observed, for every parameter."""
    stack = scores()[changes]
    leaves = [*inputs(groups=2), *parameters(stack)]
    read = [READOUTS[name] for name in ("top-k", "entropy", "received mean", "mean distance", "group mass", "weights")]
    rng = torch.Generator().manual_seed(1)

    def observed(q, k, v, *own):
        own = list(own)
        changed = [change.with_parameters({name: own.pop(0) for name in change.parameters()}) for change in stack]
        found = el.observe(q, k, v, mask=MASKS[mask], scores=changed, read=read, dropout=0.3, seed=2)
        return tuple(seen(found).values())

    plain = tuple(x.detach() for x in leaves)
    moved = tuple(torch.randn(x.shape, dtype=x.dtype, generator=rng) for x in leaves)
    results, tangents = torch.func.jvp(observed, plain, moved)
    weighed = tuple(torch.randn(x.shape, dtype=x.dtype, generator=rng) for x in results)
    back = torch.func.vjp(observed, *plain)[1](weighed)
    forth = sum((d * t).sum() for d, t in zip(weighed, tangents, strict=True))
    torch.testing.assert_close(forth, sum((d * t).sum() for d, t in zip(back, moved, strict=True)), rtol=1e-8, atol=0)


def test_modules_may_be_transformed():
    layer = et.SelfAttention(8, 2, causal=True).double()
    x = numbers(2, 5, 8).detach()
    weights = {name: parameter.detach() for name, parameter in layer.named_parameters()}

    def run(weights):
        return torch.func.functional_call(layer, weights, (x,)).sin().sum()

    layer(x).sin().sum().backward()
    for name, d in torch.func.grad(run)(weights).items():
        torch.testing.assert_close(d, layer.get_parameter(name).grad)
    tangents = {name: torch.ones_like(x) for name, x in weights.items()}
    _, forward = torch.func.jvp(run, (weights,), (tangents,))
    torch.testing.assert_close(forward, sum(x.grad.sum() for x in layer.parameters()))


def second_by_autograd(f):
    q, k, v = inputs()
    [d] = torch.autograd.grad(f(q, k, v).sin().sum(), q, create_graph=True)
    return torch.autograd.grad(d.sum(), q)


@pytest.mark.parametrize(
    "transform",
    [
        second_by_autograd,
        lambda f: torch.func.hessian(loss(f))(*given()),
        lambda f: torch.func.grad(lambda *x: torch.func.grad(loss(f))(*x).sum())(*given()),
        lambda f: torch.func.linearize(f, *given())[1](*along()),
    ],
)
def test_what_there_is_no_derivative_of_says_so(transform):
    with pytest.raises(NotImplementedError, match="Eyeline's attention can"):
        transform(ours)


FLOATS = (torch.float32, torch.bfloat16, torch.float16)


@ways
@pytest.mark.parametrize("narrow", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("types", [(a, b, c) for a in FLOATS for b in FLOATS for c in FLOATS if not a == b == c])
def test_autocast_casts_what_is_of_several_types(types, narrow, way):
    """As `scaled_dot_product_attention` does, to the type of autocast."""
    q, k, v = (x.detach().to(dtype) for x, dtype in zip(inputs(groups=2), types, strict=True))
    with pytest.raises(ValueError, match="must be of q's type"):
        el.attention(q, k, v)
    with torch.autocast("cpu", dtype=narrow), WAYS[way]():
        got = el.attention(q, k, v)
        seen_too = el.observe(q, k, v, read=el.Entropy())
        like = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert got.dtype == like.dtype == narrow
    want = el.attention(*(x.to(narrow).double() for x in (q, k, v)))
    torch.testing.assert_close(got.double(), want, rtol=0.02, atol=0.02)
    assert torch.equal(seen_too.output, got)


def test_autocast_leaves_doubles_alone():
    q, k, v = (x.detach() for x in inputs())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert el.attention(q, k, v).dtype == torch.float64
        with pytest.raises(ValueError, match=r"v must be of q's type, torch\.float64, got torch\.bfloat16"):
            el.attention(q, k, v.float())


def test_autocast_of_the_modules_and_of_a_compiled_function():
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16)
    layers = [et.SelfAttention(16, 2, rotary=True, causal=True), et.CrossAttention(16, 2)]
    for layer, given_too in zip(layers, ((), (torch.randn(2, 7, 16),)), strict=True):
        exact = layer(x, *given_too)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got = layer(x, *given_too)
        got.sum().backward()
        torch.testing.assert_close(got.float(), exact, rtol=0.05, atol=0.05)
    drop_in, torchs = (
        et.MultiheadAttention(16, 2, add_bias_kv=True),
        torch.nn.MultiheadAttention(16, 2, add_bias_kv=True),
    )
    torchs.load_state_dict(drop_in.state_dict())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got, want = (layer(x, x, x)[0] for layer in (drop_in, torchs))
    torch.testing.assert_close(got.float(), want.float(), rtol=0.05, atol=0.05)
    q, k, v = (x.detach().float() for x in inputs(groups=2))
    run = torch.compile(lambda q, k, v: el.attention(q, k, v.bfloat16()), fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert run(q, k, v).dtype == torch.bfloat16


@pytest.mark.parametrize("family", ["Llama", "Mistral"])
def test_a_rotary_model_of_transformers_runs_and_trains_within_autocast(family):
    """Its rotations leave q and k in float32, while v is of autocast's type."""
    import transformers

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = getattr(transformers, f"{family}Config")(vocab_size=64, num_key_value_heads=2, **sizes)
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config)
    tokens = torch.randint(0, 64, (2, 9))
    found = {}
    for name in ("sdpa", "eyeline"):
        model.set_attn_implementation(name)
        model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(tokens, labels=tokens).loss
        loss.backward()
        found[name] = loss.detach(), model.model.layers[0].self_attn.q_proj.weight.grad.clone()
    torch.testing.assert_close(found["eyeline"], found["sdpa"], rtol=0.05, atol=2e-5)


@pytest.mark.parametrize("name", ["grad", "jvp", "vmap"])
def test_a_transform_inside_a_compiled_function_is_right_or_says_so(name):
    """PyTorch runs that part uncompiled; where all is to be one graph, it says why it can't."""
    transforms = {
        "grad": lambda x: torch.func.grad(lambda y: ours(y, y, y).sin().sum())(x),
        "jvp": lambda x: torch.func.jvp(lambda y: ours(y, y, y), (x,), (x,))[1],
        "vmap": lambda x: torch.func.vmap(lambda y: ours(y, y, y))(torch.stack([x, 2 * x])),
    }
    x = given()[1]
    torch._dynamo.reset()
    got = torch.compile(transforms[name], backend="aot_eager")(x)
    torch.testing.assert_close(got, transforms[name](x))
    torch._dynamo.reset()
    with pytest.raises(Exception, match="Eyeline's attention can't be compiled within"):
        torch.compile(transforms[name], backend="aot_eager", fullgraph=True)(x)

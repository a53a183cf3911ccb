"""The drop-in for `torch.nn.MultiheadAttention`: the same parameters, results, weights, gradients and complaints."""

from __future__ import annotations

import pickle
import re
import warnings

import pytest
import torch

import eyeline as el
from eyeline.torch import MultiheadAttention

WIDTH, HEADS, BATCH, QUERIES, KEYS = 8, 2, 3, 4, 5
VARIANTS = {
    "plain": {},
    "batch first": {"batch_first": True},
    "no bias": {"bias": False},
    "learned keys": {"add_bias_kv": True, "batch_first": True},
    "zero keys": {"add_zero_attn": True},
    "both": {"add_bias_kv": True, "add_zero_attn": True},
    "widths": {"kdim": 6, "vdim": 5, "batch_first": True},
    "everything": {"kdim": 6, "vdim": 5, "add_bias_kv": True, "add_zero_attn": True, "bias": False},
}


def both(**kwargs) -> tuple[torch.nn.MultiheadAttention, MultiheadAttention]:
    """PyTorch's and ours, with the same parameters."""
    made = []
    for kind in (torch.nn.MultiheadAttention, MultiheadAttention):
        torch.manual_seed(0)
        made.append(kind(WIDTH, HEADS, **{"dtype": torch.float64} | kwargs))
    return made[0], made[1]


def tokens(kwargs, *, single: bool = False) -> list[torch.Tensor]:
    torch.manual_seed(1)
    made = []
    for length, width in ((QUERIES, WIDTH), (KEYS, kwargs.get("kdim", WIDTH)), (KEYS, kwargs.get("vdim", WIDTH))):
        x = torch.randn(length, width) if single else torch.randn(length, BATCH, width)
        if kwargs.get("batch_first") and not single:
            x = x.transpose(0, 1)
        made.append(x.double().requires_grad_())
    return made


def hidden(*shape: int) -> torch.Tensor:
    """Booleans, True where not to look; the first key is always seen."""
    found = torch.rand(*shape, generator=torch.Generator().manual_seed(2)) < 0.4
    found[..., 0] = False
    return found


def numbers(*shape: int) -> torch.Tensor:
    """What is added to scores, some of it -inf."""
    added = torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    return added.masked_fill(hidden(*shape), -torch.inf)


ATTENTION_MASKS = {
    "none": None,
    "booleans": hidden(QUERIES, KEYS),
    "each head's": hidden(BATCH * HEADS, QUERIES, KEYS),
    "infinities": torch.zeros(QUERIES, KEYS).double().masked_fill(hidden(QUERIES, KEYS), -torch.inf),
    "numbers": numbers(QUERIES, KEYS),
}
PADDING = {"none": None, "booleans": hidden(BATCH, KEYS), "numbers": numbers(BATCH, KEYS)}


def alike(theirs, ours, given, **asked) -> None:
    """Both give the same output, weights and gradients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's about masks of two types
        want = theirs(*given, **asked)
    got = ours(*given, **asked)
    assert (got[1] is None) == (want[1] is None)
    for one, other in zip(got, want, strict=True):
        if one is not None:
            torch.testing.assert_close(one, other)
    losses = [sum(x.sin().sum() for x in some if x is not None) for some in (got, want)]
    mine = torch.autograd.grad(losses[0], [*given, *ours.parameters()], allow_unused=True)
    its = torch.autograd.grad(losses[1], [*given, *theirs.parameters()], allow_unused=True)
    torch.testing.assert_close(mine, its)


@pytest.mark.parametrize("name", VARIANTS)
def test_state_dict_is_pytorchs(name):
    theirs, ours = both(**VARIANTS[name])
    assert isinstance(ours, torch.nn.MultiheadAttention)
    want = theirs.state_dict()
    assert list(ours.state_dict()) == list(want)
    for key, x in ours.state_dict().items():
        assert torch.equal(x, want[key])
    ours.load_state_dict(want)
    theirs.load_state_dict(ours.state_dict())


@pytest.mark.parametrize("need", ["nothing", "mean", "each head's"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", VARIANTS)
def test_results_and_gradients_are_pytorchs(name, training, need):
    theirs, ours = (module.train(training) for module in both(**VARIANTS[name]))
    asked = {"need_weights": need != "nothing", "average_attn_weights": need == "mean"}
    for single in (False, True):
        alike(theirs, ours, tokens(VARIANTS[name], single=single), **asked)


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("mask", ATTENTION_MASKS)
@pytest.mark.parametrize("name", ["plain", "batch first", "both"])
def test_masks_are_pytorchs(name, mask, padding):
    theirs, ours = both(**VARIANTS[name])
    asked = {"attn_mask": ATTENTION_MASKS[mask], "key_padding_mask": PADDING[padding]}
    alike(theirs, ours, tokens(VARIANTS[name]), **asked)
    if mask != "each head's":
        asked["key_padding_mask"] = None if PADDING[padding] is None else PADDING[padding][0]
        alike(theirs, ours, tokens(VARIANTS[name], single=True), **asked)


def test_a_mask_per_head_for_one_sequence():
    theirs, ours = both()
    alike(theirs, ours, tokens({}, single=True), attn_mask=hidden(HEADS, QUERIES, KEYS))


def test_a_learned_bias_has_a_gradient():
    _, ours = both()
    bias = torch.zeros(QUERIES, KEYS, dtype=torch.float64, requires_grad=True)
    ours(*tokens({}), attn_mask=bias)[0].sin().sum().backward()
    assert bias.grad.abs().sum() > 0


@pytest.mark.parametrize("name", ["plain", "both"])
@pytest.mark.parametrize("need", [True, False])
def test_is_causal(name, need):
    theirs, ours = both(**VARIANTS[name])
    x = tokens({})[0]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(QUERIES, dtype=torch.float64)
    want = theirs(x, x, x, attn_mask=mask)[0]
    for given in (mask, None):
        got = ours(x, x, x, attn_mask=given, is_causal=True, need_weights=need)[0]
        torch.testing.assert_close(got, want)


def test_self_attention_projects_once_and_the_same():
    theirs, ours = both(batch_first=True)
    x = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(ours(x, x, x), theirs(x, x, x))
    torch.testing.assert_close(ours(x[0], x[0], x[0]), theirs(x[0], x[0], x[0]))
    torch.testing.assert_close(ours(x, x, x), ours(x, x.clone(), x.clone()))


def test_a_query_that_may_look_at_nothing_gets_no_nan():
    _, ours = both(batch_first=True)
    x = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64, requires_grad=True)
    padding = torch.zeros(BATCH, KEYS, dtype=torch.bool)
    padding[1] = True
    output, weights = ours(x, x, x, key_padding_mask=padding)
    assert torch.equal(output[1], ours.out_proj.bias.expand(KEYS, WIDTH))
    assert not weights[1].any()
    output.sum().backward()
    assert x.grad.isfinite().all()


def test_readouts_come_in_place_of_weights():
    _, ours = both(batch_first=True, add_zero_attn=True)
    q, k, v = tokens({"batch_first": True})
    output, seen = ours(q, k, v, read=[el.TopK(2), el.Entropy(), el.Weights()])
    assert isinstance(seen, el.Observation)
    assert seen.entropy.shape == (BATCH, HEADS, QUERIES)
    assert seen.top_k.keys.shape == (BATCH, HEADS, QUERIES, 2)
    want, weights = ours(q, k, v, average_attn_weights=False)
    assert torch.equal(output, want)
    assert torch.equal(seen.weights, weights)
    torch.testing.assert_close(ours.out_proj(seen.output.transpose(1, 2).flatten(2)), output)
    seen.entropy.sum().backward()
    assert ours.in_proj_weight.grad.abs().sum() > 0


def test_weights_change_no_bit_of_the_output():
    _, ours = both(dtype=torch.float32)
    x = torch.randn(65, 2, WIDTH)
    assert torch.equal(ours(x, x, x)[0], ours(x, x, x, need_weights=False)[0])


def test_dropout_follows_torchs_generator_and_is_off_in_evaluation():
    _, ours = both(dropout=0.5)
    given = tokens({})
    torch.manual_seed(5)
    first, second = ours(*given), ours(*given)
    torch.manual_seed(5)
    again = ours(*given)
    assert torch.equal(first[0], again[0])
    assert not torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])  # the weights before dropout
    assert torch.equal(ours.eval()(*given)[0], ours(*given)[0])
    assert not torch.equal(ours(*given)[0], first[0])


def test_dropout_keeps_the_mean():
    _, ours = both(dropout=0.3)
    given = [x.detach() for x in tokens({})]
    torch.manual_seed(0)
    runs = torch.stack([ours(*given, need_weights=False)[0] for _ in range(1000)])
    # Six standard errors.
    error = 6 * runs.std(dim=0) / len(runs) ** 0.5
    assert ((runs.mean(dim=0) - ours.eval()(*given)[0]).abs() < error).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("training", [True, False])
def test_every_type(dtype, training):
    ours = MultiheadAttention(WIDTH, HEADS, batch_first=True).to(dtype).train(training)
    x = torch.randn(BATCH, KEYS, WIDTH, dtype=dtype)
    output, weights = ours(x, x, x)
    assert output.dtype == weights.dtype == dtype
    assert output.shape == x.shape
    wide = ours.double()(x.double(), x.double(), x.double())[0]
    tolerance = 8 * torch.finfo(dtype).eps
    torch.testing.assert_close(output.double(), wide, atol=tolerance, rtol=tolerance)


def test_a_bias_of_another_type():
    ours = MultiheadAttention(4, 4, batch_first=True, dtype=torch.float64).eval()
    ours.in_proj_bias = torch.nn.Parameter(ours.in_proj_bias.half())
    x = torch.randn(4, 4, 4, dtype=torch.float64)
    assert ours(x, x, x)[0].dtype == torch.float64


def test_pickled_and_compiled():
    _, ours = both(batch_first=True, dropout=0.2)
    x = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    padding, mask = hidden(BATCH, KEYS), torch.zeros(KEYS, KEYS).double()
    again = pickle.loads(pickle.dumps(ours)).eval()
    assert torch.equal(again(x, x, x)[0], ours.eval()(x, x, x)[0])
    torch._dynamo.reset()
    compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(
        compiled(x, x, x, key_padding_mask=padding, attn_mask=mask),
        ours(x, x, x, key_padding_mask=padding, attn_mask=mask),
    )
    ours.train()
    compiled(x, x, x, need_weights=False)[0].sum().backward()
    assert ours.in_proj_weight.grad.isfinite().all()


def test_in_a_transformer_layer():
    layers = []
    for kind in (torch.nn.MultiheadAttention, MultiheadAttention):
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 16, dropout=0.0, batch_first=True, dtype=torch.float64)
        mine = kind(WIDTH, HEADS, batch_first=True, dtype=torch.float64)
        mine.load_state_dict(layer.self_attn.state_dict())
        layer.self_attn = mine
        layers.append(layer)
    x = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    padding = torch.arange(KEYS) >= torch.tensor([[5], [3], [4]])
    for training in (True, False):
        want, got = (layer.train(training)(x, src_key_padding_mask=padding) for layer in layers)
        torch.testing.assert_close(got[~padding], want[~padding])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.zeros(4)}, "query should be unbatched 2D or batched 3D tensor but received 1-D query tensor"),
        ({"key": torch.zeros(5, 8)}, "expected `key` and `value` to be 3-D but found 2-D and 3-D tensors respectively"),
        ({"value": torch.zeros(8)}, "expected `key` and `value` to be 3-D but found 3-D and 1-D tensors respectively"),
        ({"key_padding_mask": hidden(5)}, "expected `key_padding_mask` to be `None` or 2-D but found 1-D tensor"),
        ({"key_padding_mask": hidden(3, 4)}, "key_padding_mask must be one entry per key, (3, 5), got (3, 4)"),
        ({"attn_mask": hidden(5)}, "expected `attn_mask` to be `None`, 2-D or 3-D but found 1-D tensor instead"),
        ({"attn_mask": hidden(4, 4)}, "Expected `attn_mask` shape to be (4, 5) but got (4, 4)"),
        ({"attn_mask": hidden(5, 4, 5)}, "Expected `attn_mask` shape to be (6, 4, 5) but got (5, 4, 5)"),
        ({"attn_mask": hidden(4, 5).int()}, "only bool and floating types of attn_mask are supported, got torch.int32"),
        ({"query": torch.zeros(4, 3, 7)}, "query must have width 8 in its last axis, got shape (4, 3, 7)"),
        ({"value": torch.zeros(4, 3, 8)}, "value must have key's tokens, (5, 3), got shape (4, 3, 8)"),
        ({"query": torch.zeros(4, 2, 8)}, "key must have query's batch, 2, got shape (5, 3, 8)"),
        (
            {"query": torch.nested.nested_tensor([torch.zeros(4, 8)], layout=torch.jagged)},
            "does not support NestedTensor outside of its fast path",
        ),
    ],
)
def test_wrong_input(change, message):
    ours = MultiheadAttention(WIDTH, HEADS)
    given = {"query": torch.zeros(4, 3, 8), "key": torch.zeros(5, 3, 8), "value": torch.zeros(5, 3, 8)} | change
    for kind in (ValueError, AssertionError):
        with pytest.raises(kind, match=re.escape(message)):
            ours(**given)

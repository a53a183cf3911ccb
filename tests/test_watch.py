"""What is read of a watched model: what its own eager attention would say, for real tokens alone, and at every step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hugging import albert, bert, eager, llama, one_thread, padded, t5, text  # noqa: F401 - one_thread, for all tests here
from transformers import WhisperConfig, WhisperForConditionalGeneration

import eyeline as el
from eyeline.huggingface.attaching import set_on_eyeline
from eyeline.kernels.run import ForwardPlan

READ = [el.TopK(3), el.Entropy(), el.Received(), el.MeanDistance(), el.Weights()]


def close(got: np.ndarray, want: torch.Tensor | np.ndarray) -> None:
    np.testing.assert_allclose(got, np.asarray(torch.as_tensor(want).detach()), rtol=2e-6, atol=1e-6)


def entropy(weights: np.ndarray) -> np.ndarray:
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("make", [bert, llama])
def test_readouts_are_those_of_the_real_tokens_weights(make, side):
    model, ids = make(), text()
    tokens = padded(ids, 4, side)
    weights = [x.detach().double().numpy() for x in eager(model, ids, attention_mask=tokens).attentions]
    real = tokens.bool().numpy()
    with el.watch(model, READ) as seen, torch.no_grad():
        model(ids, attention_mask=tokens)
    assert [call.layer for call in seen] == [0, 1]
    for call, w in zip(seen, weights, strict=True):
        w = np.where(real[:, None, :, None] & real[:, None, None], w, 0)
        np.testing.assert_array_equal(call.real, real)
        np.testing.assert_array_equal(call.real_keys, real)
        close(call.seen.weights, w)
        close(call.seen.entropy, entropy(w))
        close(call.seen.received, w.sum(2))
        i, j = np.arange(12)[:, None], np.arange(12)
        close(call.seen.mean_distance, (w * abs(i - j)).sum(-1))
        close(call.seen.top_k.weights, -np.sort(-w, axis=-1)[..., :3])
        close(call.mean("entropy"), entropy(w).sum(2) / real.sum(1)[:, None])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("make", [bert, llama])
@pytest.mark.parametrize("training", [False, True])
def test_padded_batches_are_attended_once(make, side, training, monkeypatch):
    """Watched or not, each layer runs one pass, and the model's output has the same bits, padded tokens included."""
    model, ids = set_on_eyeline(make())[0], text()
    tokens = padded(ids, 4, side)
    passes = []

    def note(name):
        own = getattr(ForwardPlan, name)

        def noted(self, *args, **options):
            done = own(self, *args, **options)
            if done is not False:  # a small run that didn't happen
                passes.append(name)
            return done

        monkeypatch.setattr(ForwardPlan, name, noted)

    note("run")
    note("run_small")
    with torch.set_grad_enabled(training):
        want = model(ids, attention_mask=tokens)[0]
        assert len(passes) == 2
        with el.watch(model, [el.TopK(3), el.Entropy(), el.Received(), el.MeanDistance()]):
            got = model(ids, attention_mask=tokens)[0]
    assert len(passes) == 4
    assert torch.equal(got, want)


def test_received_adds_up_to_the_real_queries():
    model, ids = bert(), text()
    with el.watch(model, el.Received()) as seen:
        model(ids, attention_mask=padded(ids, 5, "right"))
    close(seen[0].seen.received.sum(-1), np.repeat([[12.0], [7.0]], 4, axis=1))
    assert not seen[0].seen.received[1, :, 7:].any()


def test_means_leave_padding_out():
    """A text alone and the same one padded have the same means."""
    model, ids = bert(), text(9, batch=1)
    longer = torch.cat([torch.cat([ids, torch.zeros(1, 3, dtype=ids.dtype)], 1), text(12, batch=1, seed=1)])
    tokens = torch.ones_like(longer)
    tokens[0, 9:] = 0
    read = [el.Entropy(), el.Received("mean")]
    with el.watch(model, read) as alone:
        model(ids)
    with el.watch(model, read) as together:
        model(longer, attention_mask=tokens)
    for one, both in zip(alone, together, strict=True):
        close(both.mean("entropy")[:1], one.mean("entropy"))
        close(both.seen.received[:1, :, :9], one.seen.received)


def test_each_token_that_generation_makes_can_be_looked_at():
    """Step by step, each query sees what it sees when the whole text is given at once."""
    model, ids = llama(), text(6)
    tokens = padded(ids, 2, "left")
    with el.watch(model, READ) as seen:
        made = model.generate(ids, attention_mask=tokens, max_new_tokens=5, do_sample=False)
    assert made.shape == (2, 11)
    whole = eager(model, made, attention_mask=torch.cat([tokens, torch.ones(2, 5, dtype=tokens.dtype)], 1)).attentions
    steps = seen.of(layer=1)
    assert [(call.forward, call.first_query, call.keys) for call in steps] == [(0, 0, 6)] + [
        (step, 5 + step, 6 + step) for step in range(1, 5)
    ]
    for call in steps[1:]:
        assert call.kind == "decoder self"
        close(call.seen.weights[:, :, 0], whole[1][:, :, call.first_query, : call.keys])
        assert set(seen.frame()["query"].unique()) == set(range(10))


def test_a_static_cache_shows_the_same():
    model, ids = llama(), text(6)
    asked = {"attention_mask": padded(ids, 2, "left"), "max_new_tokens": 4, "do_sample": False}
    found = []
    for cache in ("dynamic", "static"):
        with el.watch(model, [el.Entropy(), el.TopK(2)]) as seen:
            tokens = model.generate(ids, **asked, cache_implementation=cache)
        found.append((tokens, seen))
    assert torch.equal(found[0][0], found[1][0])
    for a, b in zip(found[0][1], found[1][1], strict=True):
        assert (a.module, a.forward, a.first_query) == (b.module, b.forward, b.first_query)
        np.testing.assert_array_equal(a.seen.entropy, b.seen.entropy)
        np.testing.assert_array_equal(a.seen.top_k.keys, b.seen.top_k.keys)


def test_encoder_decoder_and_cross_attention_are_told_apart():
    model, ids = t5(), text()
    source, target = padded(ids, 3, "right"), text(7, seed=2)
    real = padded(target, 2, "right")
    asked = {"attention_mask": source, "decoder_input_ids": target, "decoder_attention_mask": real}
    want = eager(model, ids, **asked)
    with el.watch(model, [el.Weights(), el.Received(), el.MeanDistance()]) as seen:
        got = model(ids, **asked).logits
    close(got.detach().numpy()[real.bool()], want.logits[real.bool()])
    kinds = {
        "encoder self": (want.encoder_attentions, source, source),
        "decoder self": (want.decoder_attentions, real, real),
        "cross": (want.cross_attentions, real, source),
    }
    for kind, (attentions, queries, keys) in kinds.items():
        calls = seen.of(kind=kind)
        assert [call.layer for call in calls] == [0, 1]
        for call, weights in zip(calls, attentions, strict=True):
            close(call.seen.weights, weights * (queries[:, None, :, None] & keys[:, None, None]))
            np.testing.assert_array_equal(call.real, queries.bool())
            assert (el.MeanDistance in call.seen) == (kind != "cross")
    assert seen[0].module == "encoder.block.0.layer.0.SelfAttention"


def test_the_encoder_of_generation_is_a_pass_of_its_own():
    model = t5()
    with el.watch(model, el.Entropy()) as seen:
        model.generate(text(), max_new_tokens=3, min_new_tokens=3, do_sample=False)
    found = [(call.forward, call.kind, call.layer, call.first_query) for call in seen]
    encoder = [(0, "encoder self", layer, 0) for layer in (0, 1)]
    steps = [(1 + n, kind, layer, n) for n in range(3) for layer in (0, 1) for kind in ("decoder self", "cross")]
    assert found == encoder + steps


def test_words_in_time_from_two_heads_of_cross_attention():
    """20 queries, 1500 keys: the rows of two heads are eager's, and nothing of the others is kept."""
    sizes = {f"{part}_{what}": n for part in ("encoder", "decoder") for what, n in (("layers", 1), ("ffn_dim", 32))}
    heads = {"encoder_attention_heads": 6, "decoder_attention_heads": 6}
    config = WhisperConfig(**sizes, **heads, d_model=48, vocab_size=100, num_mel_bins=8, pad_token_id=0, bos_token_id=1)
    torch.manual_seed(0)
    model = WhisperForConditionalGeneration(config).eval()
    sound, ids = torch.randn(1, 8, 3000), text(20, batch=1)
    want = eager(model, sound, decoder_input_ids=ids).cross_attentions[0]
    with el.watch(model, el.Weights(), layers="*.encoder_attn", heads=[4, 1]) as seen:
        model(sound, decoder_input_ids=ids)
    (call,) = seen
    assert (call.kind, call.heads) == ("cross", (4, 1))
    assert call.seen.weights.shape == (1, 2, 20, 1500)
    close(call.seen.weights, want[:, [4, 1]])
    assert call.seen.output.size == 0


def test_heads_that_share_keys_are_chosen_rightly():
    model, ids = llama(), text()
    want = eager(model, ids).attentions
    with el.watch(model, el.Weights(), heads=[3, 0, 2]) as seen:
        model(ids)
    for call, weights in zip(seen, want, strict=True):
        close(call.seen.weights, weights[:, [3, 0, 2]])


def test_a_module_called_many_times_is_many_layers():
    model, ids = albert(), text()
    want = eager(model, ids).attentions
    with el.watch(model, el.Weights()) as seen:
        model(ids)
        model(ids)
    assert len(seen.modules) == 1
    assert [(call.forward, call.layer) for call in seen] == [(n, layer) for n in (0, 1) for layer in range(5)]
    for call in seen:
        close(call.seen.weights, want[call.layer])


def test_layers_by_number_or_path():
    model, ids = llama(), text()
    for layers, want in ((1, [1]), ([0, 1], [0, 1]), ("model.layers.0.*", [0]), (["*", 1], [0, 1])):
        with el.watch(model, el.Entropy(), layers=layers) as seen:
            model(ids)
        assert [call.layer for call in seen] == want


def test_long_texts_take_no_matrix():
    """16,384 tokens through four heads, whose weights would be 4.3 GB a layer."""
    model = llama()
    model.config.max_position_embeddings = 1 << 14
    with el.watch(model, [el.TopK(2), el.Received()], layers=1) as seen, torch.no_grad():
        model.model(text(1 << 14, batch=1))
    kept = seen[0].seen
    arrays = [kept.output, kept.lse, kept.received, kept.top_k.keys, kept.top_k.weights]
    assert sum(x.nbytes for x in arrays) < 4 * (1 << 14) * 40
    np.testing.assert_allclose(kept.received.sum(-1), 1 << 14, rtol=1e-4)


def test_what_was_seen_can_be_chosen_from():
    model, ids = llama(), text()
    with el.watch(model, el.Entropy()) as seen:
        model(ids)
        model(ids)
    assert repr(seen) == "<Watched: 4 calls of 2 modules in 2 passes>"
    assert len(seen.of("model.layers.1.self_attn")) == 2
    assert [call.forward for call in seen.of(layer=0)] == [0, 1]
    assert seen.of(kind="decoder self", forward=1).modules == seen.modules
    with pytest.raises(ValueError, match=r"there must be such a call, got layer=7; watched were model\.layers\.0"):
        seen.of(layer=7)
    with pytest.raises(ValueError, match=r"column must be .* per query that was read \(entropy, lse\), got 'received'"):
        seen[0].mean("received")

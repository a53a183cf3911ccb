"""`why`: a score as a sum over what was written before, exactly; tokens, edits, files; what can't be split."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.edits import Cut, Gate, Patch, Pattern, Reweight, Uniform
from eyeline.models import load
from eyeline.models.activations import ACTIVATIONS, activated
from tests.encoders import save_encoder
from tests.test_decoders import TINY as DECODERS
from tests.test_decoders import save_tiny
from tests.test_models import _TINY as ENCODERS
from tests.test_models import save_tiny as save_tiny_encoder
from tests.tiny import save_decoder

TEXT = "The old man the boat while the horse raced past the barn, and time flies like an arrow"


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module")
def flies(minilm):
    return el.record("time flies like an arrow", model=minilm)


def check_sums(found):
    """The bounds of the split, and the run's own score from its q and k."""
    trace, layer = found.trace, found.trace.layers[found.layer]
    q, k = layer.q[found.head, found.query.index], layer.k[trace.key_head(found.head), found.key.index]
    run = layer.scale * math.fsum(q.astype(np.float64) * k.astype(np.float64))
    terms = found.table.ravel().tolist()
    assert abs(math.fsum(terms) - found.score) <= 1e-9 * math.fsum(map(abs, terms))
    assert found.run_score == pytest.approx(run, rel=1e-12)
    assert abs(found.score - run) <= 1e-4 * (1 + abs(run))
    assert found.table.dtype == np.float64
    assert found.table.shape == (len(found.query_sources), len(found.key_sources))


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_the_terms_sum_to_the_score_and_the_score_is_the_runs(name, minilm):
    trace = el.record(TEXT, model=minilm if name == "minilm" else name)
    rng, causal = np.random.default_rng(0), trace.kind == "decoder"
    L, H, N = trace.model.layers, trace.model.heads, len(trace.queries)
    for layer in [0, L - 1, *rng.integers(0, L, 28).tolist()]:
        i = int(rng.integers(N))
        j = int(rng.integers(i + 1 if causal else N))
        found = el.why(trace, layer, int(rng.integers(H)), i, j)
        check_sums(found)
        names = [source.name for source in found.query_sources]
        assert len(set(names)) == len(names)
        heads = [(source.layer, source.head) for source in found.query_sources if source.kind == "head"]
        assert heads == [(one, head) for one in range(layer) for head in range(H)]
        assert sum(source.kind == "MLP" for source in found.query_sources) == layer
        assert found.weight == pytest.approx(trace.weights(layer, found.head, i, j).item(), rel=1e-6)


# An encoder in float64, from its file alone, and its sources one by one


class Bert64:
    """A BERT in float64 after the textbook: the whole forward pass, then any vector through the norms it passed."""

    def __init__(self, folder, ids, heads):
        tensors = {name: x.astype(np.float64) for name, x in load_file(str(folder / "model.safetensors")).items()}
        self.t = {name.removeprefix("bert."): x for name, x in tensors.items()}
        self.heads, self.norms, self.written = (
            heads,
            [],
            [],
        )  # each norm's name and σ; what was written, and before which
        words, places = self.t["embeddings.word_embeddings.weight"][ids], np.arange(len(ids))
        position = self.t["embeddings.position_embeddings.weight"][places]
        position = position + self.t["embeddings.token_type_embeddings.weight"][0]
        self.write("embedding", words)
        self.write("position", position)
        self.x = self.norm(words + position, "embeddings.LayerNorm", "embedding norm bias")

    def write(self, name, vectors):
        self.written.append((name, len(self.norms), np.broadcast_to(vectors, (len(vectors), vectors.shape[-1]))))

    def norm(self, x, name, bias):
        deviation = np.sqrt(x.var(axis=-1) + 1e-12)
        self.norms.append((self.t[f"{name}.weight"], deviation))
        beta = self.t[f"{name}.bias"]
        self.write(bias, np.tile(beta, (len(x), 1)))
        return (x - x.mean(axis=-1, keepdims=True)) / deviation[:, None] * self.t[f"{name}.weight"] + beta

    def linear(self, x, name):
        return x @ self.t[f"{name}.weight"].T + self.t[f"{name}.bias"]

    def projected(self, x, layer, part, head):
        whole = self.linear(x, f"encoder.layer.{layer}.attention.self.{part}")
        return np.split(whole, self.heads, axis=-1)[head]

    def layer(self, number):
        name, x = f"encoder.layer.{number}.", self.x
        W, b = (self.t[f"{name}attention.output.dense.{part}"] for part in ("weight", "bias"))
        for head in range(self.heads):
            q, k, v = (self.projected(x, number, part, head) for part in ("query", "key", "value"))
            weights = np.exp(q @ k.T / math.sqrt(q.shape[1]))
            weights /= weights.sum(axis=1, keepdims=True)
            self.write(f"L{number}H{head}", weights @ v @ np.split(W, self.heads, axis=1)[head].T)
        self.write(f"L{number} W_o bias", np.tile(b, (len(x), 1)))
        attended = sum(vectors for name, _, vectors in self.written[-self.heads - 1 :])
        x = self.norm(x + attended, f"{name}attention.output.LayerNorm", f"L{number} attention norm bias")
        inner = self.linear(x, f"{name}intermediate.dense")
        inner = inner * (1 + torch.erf(torch.from_numpy(inner) / math.sqrt(2)).numpy()) / 2
        b = self.t[f"{name}output.dense.bias"]
        made = inner @ self.t[f"{name}output.dense.weight"].T
        self.write(f"L{number} MLP", made)
        self.write(f"L{number} MLP bias", np.tile(b, (len(x), 1)))
        self.x = self.norm(x + made + b, f"{name}output.LayerNorm", f"L{number} MLP norm bias")

    def now(self, vector, since, token):
        """A token's vector, written before norm number `since`, after that norm and all later ones."""
        for weight, deviation in self.norms[since:]:
            vector = (vector - vector.mean()) / deviation[token] * weight
        return vector

    def sources(self, token):
        """Name → vector in the stream now. A norm's bias is written after it: at the next norm's number."""
        return {name: self.now(vectors[token], since, token) for name, since, vectors in self.written}


@pytest.mark.parametrize("which", ["minilm", "tiny"])
def test_an_encoders_sources_are_those_of_a_whole_float64_model(which, minilm, tmp_path):
    model = minilm if which == "minilm" else load(save_encoder(tmp_path))
    layer, head, i, j = (3, 7, 4, 2) if which == "minilm" else (1, 2, 1, 4)
    trace = el.record(TEXT if which == "minilm" else "w4 w9 w5 w30 w4", model=model)
    found = el.why(trace, layer, head, i, j)
    whole = Bert64(model.source, np.array(trace.queries.ids), trace.model.heads)
    for number in range(layer):
        whole.layer(number)
    D = trace.model.head_dim
    sides = []
    for token, part in ((i, "query"), (j, "key")):
        name = f"encoder.layer.{layer}.attention.self.{part}"
        W = np.split(whole.t[f"{name}.weight"], trace.model.heads)[head]
        made = {source: W @ vector for source, vector in whole.sources(token).items()}
        made[f"{part[0]} bias"] = np.split(whole.t[f"{name}.bias"], trace.model.heads)[head]
        sides.append(made)
    expected = {(s, t): a @ b / math.sqrt(D) for s, a in sides[0].items() for t, b in sides[1].items()}
    got = {
        (s.name, t.name): found.table[row, column]
        for row, s in enumerate(found.query_sources)
        for column, t in enumerate(found.key_sources)
    }
    assert got.keys() == expected.keys()
    largest = max(map(abs, expected.values()))
    assert max(abs(got[pair] - expected[pair]) for pair in expected) < 1e-5 * largest
    q, k = (whole.projected(whole.x[token], layer, part, head) for token, part in ((i, "query"), (j, "key")))
    assert found.score == pytest.approx(q @ k / math.sqrt(D), abs=1e-4)
    # At one place: the query's position, through the norms of the key's token, in place of the key's own.
    name, since, vectors = next(one for one in whole.written if one[0] == "position")
    W = np.split(whole.t[f"encoder.layer.{layer}.attention.self.key.weight"], trace.model.heads)[head]
    moved = W @ (whole.now(vectors[i], since, j) - whole.now(vectors[j], since, j))
    assert found.same_place == pytest.approx(q @ (k + moved) / math.sqrt(D), abs=1e-4)
    assert found.positions == "added"


@pytest.mark.parametrize("kind", ["qwen3 with biases", "llama with biases", "llama of one key head"])
def test_a_decoders_sources_are_what_a_float64_model_of_transformers_writes(kind, tmp_path):
    twin = save_tiny(tmp_path, kind).double()
    model = load(tmp_path)
    layers = model.config.layers
    trace = el.record("w4 w9 w5 w30 w4 w7", model=model)
    layer, head, i, j = layers - 1, 3, 5, 2
    seen = {}

    def keep(name):
        return lambda module, inputs, output=None: seen.update({name: (inputs[0], output)})

    for number, block in enumerate(twin.model.layers):
        block.self_attn.o_proj.register_forward_hook(keep(f"joined {number}"))
        block.mlp.down_proj.register_forward_hook(keep(f"MLP {number}"))
        block.input_layernorm.register_forward_hook(keep(f"norm {number}"))
    with torch.no_grad():
        twin(torch.tensor([trace.queries.ids]))
    at, own = twin.model.layers[layer], twin.model.layers[layer].self_attn
    D, group = trace.model.head_dim, trace.key_head(head)

    def stream(token):
        made = {"embedding": twin.model.embed_tokens.weight[trace.queries.ids[token]]}
        for number, block in enumerate(twin.model.layers[:layer]):
            joined, o_proj = seen[f"joined {number}"][0][0, token], block.self_attn.o_proj
            for one, (part, W) in enumerate(zip(joined.split(D), o_proj.weight.split(D, dim=1), strict=True)):
                made[f"L{number}H{one}"] = W @ part
            if o_proj.bias is not None:
                made[f"L{number} W_o bias"] = o_proj.bias
            down, (inner, _) = block.mlp.down_proj, seen[f"MLP {number}"]
            made[f"L{number} MLP"] = down.weight @ inner[0, token]
            if down.bias is not None:
                made[f"L{number} MLP bias"] = down.bias
        return made

    def turned(x, token):
        angles = float(token) * torch.from_numpy(model.network.rotary.speeds).double()
        a, b = x.chunk(2)
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()])

    def side(token, projection, number, norm, name):
        x = seen[f"norm {layer}"][0][0, token]
        root = (x.square().mean() + at.input_layernorm.variance_epsilon).sqrt()
        W = projection.weight.split(D)[number]
        made = {s: W @ (v * at.input_layernorm.weight / root) for s, v in stream(token).items()}
        if projection.bias is not None:
            made[name] = projection.bias.split(D)[number]
        if norm is not None:
            root = (sum(made.values()).square().mean() + norm.variance_epsilon).sqrt()
            made = {s: v * norm.weight / root for s, v in made.items()}
        return made

    with torch.no_grad():
        q = side(i, own.q_proj, head, getattr(own, "q_norm", None), "q bias")
        k = side(j, own.k_proj, group, getattr(own, "k_norm", None), "k bias")
        expected = {(s, t): (turned(a, i) @ turned(b, j)).item() / D**0.5 for s, a in q.items() for t, b in k.items()}
        together = (sum(q.values()) @ sum(k.values())).item() / D**0.5
    found = el.why(trace, layer, head, i, j)
    check_sums(found)
    got = {
        (s.name, t.name): found.table[row, column]
        for row, s in enumerate(found.query_sources)
        for column, t in enumerate(found.key_sources)
    }
    assert got.keys() == expected.keys()
    largest = max(map(abs, expected.values()))
    assert max(abs(got[pair] - expected[pair]) for pair in expected) < 1e-5 * largest
    assert (found.same_place, found.positions) == (pytest.approx(together, abs=1e-4 * (1 + abs(together))), "rotary")


@pytest.mark.parametrize("kind", DECODERS)
def test_every_family_of_decoders_is_split(kind, tmp_path):
    save_tiny(tmp_path, kind)
    trace = el.record("w4 w9 w5 w30 w4 w7 w8", model=load(tmp_path))
    for head, i, j in ((0, 6, 4), (3, 5, 5), (1, 4, 3)):
        check_sums(el.why(trace, trace.model.layers - 1, head, i, j))


@pytest.mark.parametrize("kind", ENCODERS)
def test_every_family_of_encoders_is_split(kind, tmp_path):
    save_tiny_encoder(tmp_path, kind, load(save_encoder(tmp_path)).tokenizer)
    trace = el.record("w4 w9 w5 w30 w4 w7 w8", model=load(tmp_path))
    for head, i, j in ((0, 6, 4), (3, 5, 5), (1, 2, 3)):
        found = el.why(trace, 1, head, i, j)
        check_sums(found)
        assert (found.query_sources[2].name, found.query_sources[3].kind) == (
            "embedding norm bias",
            "bias" if kind == "electra" else "head",
        )


def test_a_generated_text_is_split_as_a_recorded_one():
    trace = el.explain("The capital of France is", model="smollm2", generate=3, layer=20, head=1).traces[0]
    N = len(trace.queries)
    found = el.why(trace, 20, 1, N - 1, 1)
    check_sums(found)
    again = el.record(trace.queries.text, model="smollm2")
    if again.queries.ids == trace.queries.ids:
        np.testing.assert_allclose(el.why(again, 20, 1, N - 1, 1).table, found.table, atol=1e-4)


def test_at_one_place_is_the_score_itself_where_both_tokens_are_one(flies):
    for trace in (flies, el.record("time flies like an arrow", model="smollm2")):
        found = el.why(trace, 4, 1, 3, 3)
        assert found.same_place == pytest.approx(found.score, abs=1e-12)


@pytest.mark.parametrize("name", sorted(set(ACTIVATIONS.values())))
def test_activations_in_float64_are_the_libraries(name):
    x = np.linspace(-9, 9, 181)
    theirs = {
        "relu": torch.relu,
        "gelu": torch.nn.functional.gelu,
        "gelu_tanh": lambda t: torch.nn.functional.gelu(t, approximate="tanh"),
        "silu": torch.nn.functional.silu,
    }[name]
    np.testing.assert_allclose(activated(name, x), theirs(torch.from_numpy(x)).numpy(), rtol=1e-12, atol=1e-15)


# The answer


def test_largest_sums_and_groups(flies):
    found = el.why(flies, 5, 2, "flies", "time")
    sizes = np.sort(np.abs(found.table), axis=None)[::-1]
    terms = found.largest(20)
    np.testing.assert_array_equal([abs(term.value) for term in terms], sizes[:20])
    assert all(
        found.table[found.query_sources.index(t.query), found.key_sources.index(t.key)] == t.value for t in terms
    )
    assert len(found.largest(10**6)) == found.table.size
    assert found.largest(0) == ()
    for sums in (found.by_query_source, found.by_key_source):
        assert sums.sum() == pytest.approx(found.score, abs=1e-12)
    groups = found.grouped()
    assert groups.is_grouped
    assert not found.is_grouped
    names = [source.name for source in groups.key_sources]
    first = ["embedding", "position", "embedding norm bias", "L0 heads", "L0 biases", "L0 MLP", "L1 heads"]
    assert (names[:7], len(names)) == (first, 3 + 3 * 5 + 1)
    row = [number for number, source in enumerate(found.query_sources) if source.kind == "head" and source.layer == 3]
    column = [n for n, source in enumerate(found.key_sources) if source.kind == "bias" and source.layer == 1]
    place = (names.index("L3 heads"), names.index("L1 biases"))
    assert groups.table[place] == pytest.approx(found.table[np.ix_(row, column)].sum(), abs=1e-14)
    assert groups.grouped().table == pytest.approx(groups.table)


def test_tokens_are_found_by_word_piece_and_position(minilm, flies):
    def places(trace, *tokens, **nth):
        found = el.why(trace, 5, 2, *tokens, **nth)
        return found.query.index, found.key.index

    assert places(flies, "flies", "time") == places(flies, 2, 1) == places(flies, "#2", np.int64(1)) == (2, 1)
    assert places(flies, "FLIES", "[CLS]") == (2, 0)
    twice = el.record("the cat saw the unbelievably fluffy cat", model=minilm)
    assert places(twice, "cat", "the", nth=2, key_nth=1) == (len(twice.queries) - 2, 1)
    pieces = [twice.queries.text[slice(*span)] for span in twice.queries.spans if span]
    assert places(twice, pieces[4], "saw") == (5, 3)
    row = flies.weights(5, 2, queries=2)[0]
    row[flies.queries.tokens_aside] = 0
    assert places(flies, "flies") == (2, int(row.argmax()))
    hardest = el.why(flies, None, None, "flies", "time")
    assert (hardest.layer, hardest.head) == (5, int(np.argmax([flies.weights(5, h, 2, 1) for h in range(12)])))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((6, 2, "flies", "time"), r"layer must be from 0 to 5 in minilm, got 6; the last is 5"),
        ((5, -1, "flies", "time"), r"head must be from 0 to 11 in minilm, got -1"),
        ((5, 2, "bees", "time"), r"'bees', which isn't there; the words are time, flies, like, an, arrow"),
        ((5, 2, 7, "time"), r"query must be a position from 0 to 6, got 7"),
        ((5, 2, "flies", "#99"), r"key must be a position from 0 to 6, got 99"),
        ((5, 2, "flies", True), r"key must be a word of the text or a position, got True"),
        ((5, 2, None, "time"), r"query must be a word of the text or a position, got None"),
    ],
)
def test_what_is_not_there_is_told_in_words(flies, asked, message):
    with pytest.raises(QuestionError, match=message):
        el.why(flies, *asked)


def test_a_word_twice_a_word_of_pieces_and_a_key_ahead_are_told_in_words(minilm):
    trace = el.record("the cat saw the unbelievably fluffy cat", model=minilm)
    with pytest.raises(QuestionError, match=r"'cat', which is there 2 times.*say which with nth=1 or 2"):
        el.why(trace, 0, 0, "cat", "saw")
    with pytest.raises(QuestionError, match=r"'the', which is there 2 times.*say which with key_nth=1 or 2"):
        el.why(trace, 0, 0, "saw", "the")
    with pytest.raises(
        QuestionError, match=r"query must be one token, got 'unbelievably', .* as 5: un \(#5\), bel \(#6\)"
    ):
        el.why(trace, 0, 0, "unbelievably", "saw")
    causal = el.record("time flies like an arrow", model=minilm, mask="causal")
    with pytest.raises(
        QuestionError, match=r"key must be a token that time \(#1\) can look at, got like \(#3\), which is a"
    ):
        el.why(causal, 0, 0, "time", "like")
    check_sums(el.why(causal, 5, 0, "like", "time"))
    cut = el.record(
        "time flies like an arrow", model=minilm, edits=[Cut(layer=5, head=2, queries="flies", keys="time")]
    )
    with pytest.raises(QuestionError, match=r"got time \(#1\), which the mask or an edit hides from it"):
        el.why(cut, 5, 2, "flies", "time")
    check_sums(el.why(cut, 5, 3, "flies", "time"))


@pytest.mark.parametrize("scale", [None, 1.0])
def test_one_token_and_a_changed_scale(scale, minilm):
    check_sums(el.why(el.record("Hello", model="smollm2", scale=scale), 29, 0, "Hello", "Hello"))
    check_sums(el.why(el.record("time flies", model=minilm, scale=scale), 5, 0, "time", "flies"))


# Other runs


def test_the_split_of_an_edited_run_is_of_that_run(minilm, flies):
    other = el.record("cats love like an arrow", model=minilm)
    for edit in (
        Gate(layer=2, head=3),
        Cut(layer=1, head=3, queries="flies", keys="time"),
        Reweight(layer=1, head=[3, 4], queries="flies", by=0.5),
        Uniform(layer=3),
        Pattern(other, layer=1, head=2),
        Patch(other, "v", layer=1, head=2),
        Patch(other, "q", layer=1, head=2),
        Patch(other, "output", layer=1, head=2, positions=[2, 3]),
    ):
        edited = el.why(el.record("time flies like an arrow", model=minilm, edits=[edit]), 5, 2, "flies", "time")
        check_sums(edited)
        assert abs(edited.score - el.why(flies, 5, 2, "flies", "time").score) > 1e-3
        if isinstance(edit, Gate):
            row = [source.name for source in edited.query_sources].index("L2H3")
            assert not edited.table[row].any()
            assert not edited.table[:, row].any()
    for name, tokens in (("q", ("flies", "an")), ("k", ("an", "flies"))):
        trace = el.record(
            "time flies like an arrow", model=minilm, edits=[Patch(other, name, layer=5, head=2, positions=[2])]
        )
        with pytest.raises(
            QuestionError, match=rf"got L5H2, whose {name} an edit took from another; ask for it in the"
        ):
            el.why(trace, 5, 2, *tokens)
        check_sums(el.why(trace, 5, 2, "an", "time"))
        check_sums(el.why(trace, 5, 3, *tokens))


def test_a_run_from_a_file_needs_its_model(minilm, flies, tmp_path):
    flies.save(tmp_path / "a.safetensors")
    trace = el.load_trace(tmp_path / "a.safetensors")
    with pytest.raises(QuestionError, match=r"got minilm without them; .* give model= with its name or folder"):
        el.why(trace, 5, 2, "flies", "time")
    again, first = (el.why(one, 5, 2, "flies", "time", model=given) for one, given in ((trace, minilm), (flies, None)))
    np.testing.assert_array_equal(again.table, first.table)
    with pytest.raises(QuestionError, match=r"model must be the one that ran, minilm, got smollm2, whose sizes"):
        el.why(trace, 5, 2, "flies", "time", model="smollm2")


def test_another_model_of_the_same_sizes_is_refused(tmp_path):
    trace = el.record("w4 w9 w5", model=load(save_encoder(tmp_path)))
    tensors = load_file(str(tmp_path / "model.safetensors"))
    tensors["encoder.layer.1.attention.self.query.weight"] *= -5
    (tmp_path / "b").mkdir()
    save_encoder(tmp_path / "b")
    save_file(tensors, str(tmp_path / "b" / "model.safetensors"))
    with pytest.raises(QuestionError, match=r"model must be the one that ran, got one whose score is .*the trace's is"):
        el.why(trace, 1, 0, 0, 1, model=tmp_path / "b")


def test_a_run_of_transformers_is_split_where_eyeline_knows_the_checkpoint(minilm):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoModel.from_pretrained(minilm.source).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm.source)
    (trace,) = el.record("time flies like an arrow", model=theirs, tokenizer=tokenizer)
    with pytest.raises(QuestionError, match=r"must be of a model whose parts Eyeline knows"):
        el.why(trace, 5, 2, "flies", "time")
    found = el.why(trace, 5, 2, "flies", "time", model=minilm)
    check_sums(found)
    assert found.score == pytest.approx(4.3629, abs=1e-3)


def test_of_an_encoder_decoder_the_encoder_is_split():
    encoder, decoder, cross = el.record("3rd of March, 2021", model="dates")
    found = el.why(encoder, encoder.model.layers - 1, 1, 2, 5)
    check_sums(found)
    assert [source.name for source in found.query_sources[:2]] == ["embedding", "position"]
    for trace in (decoder, cross):
        with pytest.raises(QuestionError, match=r"must be of a model whose parts Eyeline knows"):
            el.why(trace, 0, 0, 2, 1)
    with pytest.raises(QuestionError, match=r"got list; give one trace, such as the first"):
        el.why([encoder, decoder], 0, 0, 2, 1)


def test_values_are_needed_past_the_first_layer_and_arrays_alone_are_not_enough(minilm):
    without = el.record("time flies", model=minilm, values=False)
    with pytest.raises(QuestionError, match=r"trace must have its values.*record it with values=True"):
        el.why(without, 5, 2, "flies", "time")
    x = np.eye(3, dtype=np.float32)[None, None]
    with pytest.raises(QuestionError, match=r"got your arrays without them"):
        el.why(el.Trace.of(x, x, x, queries=["a", "b", "c"]), 0, 0, "a", "b")


def test_memory_does_not_grow_with_the_square_of_the_text(tmp_path):
    """16 times the tokens take about 16 times the memory, for keys and values: one row of a head's N is computed."""
    model = load(save_decoder(tmp_path, max_position_embeddings=4000))
    peaks = []
    for words in (80, 1280):
        trace = el.record("the cat ran " * (words // 3), model=model)
        tracemalloc.start()
        el.why(trace, 2, 0, len(trace.queries) - 1, 0)
        peaks.append((len(trace.queries), tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    (short, little), (long, much) = peaks
    assert long > 15 * short
    assert much < 1.5 * little * long / short

"""The model in the page, in a browser: its numbers equal Python's on the same weights, whatever is changed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from encoders import LAYERS, POSITIONS, save_encoder
from live_model import ModelPage

import eyeline as el
from eyeline import edits as ed
from eyeline.models import load
from eyeline.models.checkpoints import StoredMatrix
from eyeline.models.rounding import Int8Matrix, rounded
from eyeline.traces import Keep
from eyeline.traces.model_choice import text_model
from eyeline.views.live.stored_models import stored_model, tensors_of

TWELVE = "Time flies like an arrow; fruit flies like a banana."


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    context = chromium.new_context(offline=True)
    yield ModelPage(context, tmp_path_factory.mktemp("given"))
    context.close()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A tiny encoder of random weights."""
    return load(save_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def minilm():
    return rounded(load("minilm"))


def given(page, model):
    """A model's files, given to the page: their name there."""
    tensors = {}
    for name, tensor in tensors_of(model):
        if isinstance(tensor, Int8Matrix):
            tensors[name] = {"int8": tensor.numbers, "scales": tensor.scales}
        else:
            array = tensor.stored if isinstance(tensor, StoredMatrix) else np.asarray(tensor, np.float32)
            tensors[name] = {str(array.dtype): array}
    return page.files(stored_model(model, model).entry["config"], tensors)


def wanted(run):
    """What Python computed, by the names that the page's comparison has."""
    arrays = {f"state{number}": state[0] for number, state in enumerate(run.hidden_states)}
    for number, layer in enumerate(run.layers):
        named = {"q": layer.q, "k": layer.k, "v": layer.v, "lse": layer.lse, "output": layer.output}
        arrays |= {f"{name}{number}": np.asarray(array[0], np.float32) for name, array in named.items()}
    return arrays


def assert_close(apart, count):
    """Each of so many arrays differs by what is allowed at most."""
    assert len(apart) == count, apart
    assert {name: far for name, far in apart.items() if not (isinstance(far, (int, float)) and far < 1)} == {}


LOADED = """
  const files = room.files(g[0]);
  window.models = { ...window.models, [g[0]]: await room.loadModel(room.kernel, files) };
"""


@pytest.fixture(scope="module")
def loaded(page):
    """The expression of a model that the page has read: of each once."""
    names = {}

    def found(model):
        if id(model) not in names:
            name = given(page, model)
            page.run(LOADED, name)
            names[id(model)] = model, f"window.models[{json.dumps(name)}]"
        return names[id(model)][1]

    return found


# The encoder.


@pytest.mark.parametrize("text", [TWELVE, "The cat sat on the mat and looked at a dog. " * 46], ids=["12", "512"])
def test_minilm_equals_python(page, loaded, minilm, text):
    ids = [*minilm.tokens(text).ids[:511], 102]
    run = minilm.run([ids])
    body = f"return room.apart(await {loaded(minilm)}.run(g[0]), room.given[g[1]].arrays);"
    assert_close(page.run(body, ids, page.give(wanted(run))), 6 * 5 + 7)


@pytest.mark.parametrize("weights", ["int8", "float16", "float32"])
def test_weights_of_any_kind(page, loaded, tiny, weights):
    model = tiny if weights == "float32" else rounded(tiny, weights)
    ids = [2, 39, 5, 5, 17, 3, 8]
    body = f"return room.apart(await {loaded(model)}.run(g[0]), room.given[g[1]].arrays);"
    assert_close(page.run(body, ids, page.give(wanted(model.run([ids])))), LAYERS * 5 + LAYERS + 1)


@pytest.mark.parametrize("count", [1, POSITIONS])
def test_the_shortest_and_the_longest_text(page, loaded, tiny, count):
    ids = [2 + number % 30 for number in range(count)]
    body = f"return room.apart(await {loaded(tiny)}.run(g[0]), room.given[g[1]].arrays);"
    assert_close(page.run(body, ids, page.give(wanted(tiny.run([ids])))), LAYERS * 5 + LAYERS + 1)


CUT = np.ones((7, 7), np.uint8)
CUT[3, [1, 2]] = 0
ROWS = [1.0, 1, 0.5, 1, 1, 0.5, 1]
GATE = [1.0, 0, 0.5, 1, 2, 1, -1]
#: Edits of a text of 7 tokens, and the same as the page's model takes them.
EDITS = [
    (ed.Uniform(layer=0, head=1), "encoder 0", {"flat": [False, True, False, False]}),
    (ed.Gate(layer=0, head=3, by=np.array(GATE)), "encoder 0", {"gates": [1, 1, 1, GATE]}),
    (ed.Gate(layer=1, head=0, by=0.25), "encoder 1", {"gates": [0.25, 1, 1, 1]}),
    (
        ed.Cut(layer=1, head=2, queries=[3], keys=[1, 2]),
        "encoder 1",
        {"masks": [None, None, CUT.tolist(), None]},
    ),
    (
        ed.Reweight(layer=1, queries=[2, 5], keys=[0, 4], by=0.5),
        "encoder 1",
        {"factors": [{"by": ROWS, "columns": [1, 0, 0, 0, 1, 0, 0]}]},
    ),
]


@pytest.mark.parametrize("number", [*range(len(EDITS)), None])
def test_edits(page, loaded, tiny, number):
    chosen = EDITS if number is None else [EDITS[number]]
    ids = [2, 39, 5, 5, 17, 3, 8]
    run = tiny.run([ids], edits=[edit for edit, *_ in chosen])
    layers = {}
    for _, layer, theirs in chosen:
        layers[layer] = layers.get(layer, {}) | theirs
    if number is None:
        layers["encoder 0"]["gates"] = [1, 1, 1, GATE]
    body = f"""
      const edits = room.edits(g[1]);
      const run = await {loaded(tiny)}.run(g[0], {{ edits }});
      return room.apart(run, room.given[g[2]].arrays);"""
    plain = wanted(tiny.run([ids]))
    arrays = wanted(run)
    assert any(np.abs(arrays[name] - plain[name]).max() > 1e-2 for name in arrays)
    assert_close(page.run(body, ids, layers, page.give(arrays)), LAYERS * 5 + LAYERS + 1)


def test_a_run_goes_on_from_a_layer(page, loaded, minilm):
    ids = minilm.tokens(TWELVE).ids
    last, first, kept = page.run(
        f"""
        const model = {loaded(minilm)};
        const edits = room.edits(g[1]);
        const whole = await model.run(g[0], {{ edits }});
        const plain = await model.run(g[0]);
        const rest = await model.run(g[0], {{ edits, first: 4, states: plain.states, keep: "last" }});
        return [room.far(rest.states[6], whole.states[6]), room.far(plain.states[6], whole.states[6]),
          [Object.keys(rest.states), rest.layers.length]];""",
        ids,
        {"encoder 4": {"gates": [0, *[1] * 11]}},
    )
    assert last == 0
    assert first > 100
    assert kept == [["6"], 0]


def test_mask_and_scale_of_a_whole_run(page, loaded, tiny):
    ids = [2, 39, 5, 5, 17, 3, 8]
    run = tiny.run([ids], mask=el.masks.Causal(), scale=1.0)
    body = f"""
      const run = await {loaded(tiny)}.run(g[0], {{ mask: {{ kind: "causal" }}, scale: 1 }});
      const settings = run.layers.map(({{ scale, mask }}) => [scale, mask]);
      return [room.apart(run, room.given[g[1]].arrays), settings];"""
    apart, settings = page.run(body, ids, page.give(wanted(run)))
    assert_close(apart, LAYERS * 5 + LAYERS + 1)
    assert settings == [[1, {"kind": "causal"}]] * LAYERS


def test_readouts_come_back_with_each_layer(page, loaded, tiny):
    ids = [2, 39, 5, 9, 17, 3, 8]
    run = tiny.run([ids])
    arrays = {}
    for number, layer in enumerate(run.layers):
        seen = el.observe(layer.q, layer.k, layer.v, read=[el.Entropy(), el.Received()])
        arrays |= {f"entropy{number}": seen.entropy[0], f"received{number}": seen.received[0]}
    body = f"""
      const run = await {loaded(tiny)}.run(g[0], {{ ask: {{ entropy: true, received: true }} }});
      const {{ arrays }} = room.given[g[1]];
      return Object.fromEntries(run.layers.flatMap(({{ seen }}, at) => ["entropy", "received"].map((name) =>
        [`${{name}}${{at}}`, room.far(seen[name], arrays[`${{name}}${{at}}`])])));"""
    assert_close(page.run(body, ids, page.give(arrays)), 2 * LAYERS)


def test_a_run_that_is_stopped_leaves_nothing_behind(page, loaded, minilm):
    ids = minilm.tokens(TWELVE).ids
    name, layers, before, after, far = page.run(
        f"""
        const model = {loaded(minilm)};
        const plain = await model.run(g[0]);
        const before = room.kernel.memory.used;
        const layers = [];
        const options = {{ told: ([done]) => layers.push(done), cancelled: () => layers.length === 3 }};
        const stopped = await model.run(g[0], options).then(() => null, (error) => error);
        const [again, other] = await Promise.all([model.run(g[0]), model.run(g[0].slice(0, 5))]);
        return [stopped.name, layers, before, room.kernel.memory.used, room.far(again.states[6], plain.states[6])];""",
        ids,
    )
    assert name == "Cancelled"
    assert layers == [1, 2, 3]
    assert before == after
    assert far == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "delete files.tensors['encoder.layer.1.output.dense.weight']",
            "weights must have encoder.layer.1.output.dense",
        ),
        ("files.tensors['encoder.layer.0.output.dense.bias'].shape = [31]", "must have shape 32, got 31"),
        ("files.config.num_hidden_layers = 'two'", "num_hidden_layers must be a whole number, got two"),
        ("files.config.model_type = 'llama'", "model_type must be bert or eyeline-encoder-decoder, got llama"),
    ],
)
def test_files_that_do_not_fit_are_refused_by_name(page, tiny, change, message):
    body = f"""
      const files = room.files(g[0]);
      {change};
      return room.loadModel(room.kernel, files).then(() => "loaded", (error) => error.message);"""
    assert message in page.run(body, given(page, tiny))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], "1 to 24 tokens, got 0"),
        ([2] * 25, "1 to 24 tokens, got 25"),
        ([2, 40], "below 40, got 40"),
        ([-1], "got -1"),
    ],
)
def test_ids_that_are_none_are_refused(page, loaded, tiny, ids, message):
    assert message in page.run(f"return {loaded(tiny)}.run(g[0]).catch((error) => error.message);", ids)


# The encoder-decoder.


@pytest.fixture(scope="module")
def dates():
    return load("dates")


def parts_of(model, text, **options):
    """The three traces of a text, and what the page's comparison has of them."""
    recorder = text_model(model)
    parts = recorder.record_parts(text, Keep(vectors="all", input=True), **options)
    arrays = {}
    for kind, trace in (("encoder", parts.encoder), ("decoder", parts.decoder), ("cross", parts.cross)):
        for number, layer in enumerate(trace.layers):
            named = {"q": layer.q, "k": layer.k, "v": layer.v, "lse": layer.lse}
            arrays |= {f"{kind} {name}{number}": np.asarray(array, np.float32) for name, array in named.items()}
        arrays |= {f"{kind} state{number}": state for number, state in enumerate(trace.vectors)}
    for number, layer in enumerate(parts.cross.inputs.layers):
        arrays |= {f"x{number}": layer.x, f"keysX{number}": layer.keys}
    return parts, arrays


GENERATED = """
  const { arrays } = room.given[g[1]];
  const told = [];
  const made = await model.generate(g[0], { ...g[2], edits: room.edits(g[3] ?? {}), told: ({ written, cross }) =>
    told.push([written.length, cross.layers[0].q.length]) });
  const between = made.cross.layers.flatMap(({ x, keysX }, at) =>
    [[`x${at}`, room.far(x, arrays[`x${at}`])], [`keysX${at}`, room.far(keysX, arrays[`keysX${at}`])]]);
  const apart = ["encoder", "decoder", "cross"].map((kind) => room.apart(made[kind], arrays, `${kind} `));
  const { written, inputs } = made;
  return { written, inputs, told, apart: Object.assign(Object.fromEntries(between), ...apart) };
"""


def assert_generated(found, parts, arrays):
    assert found["inputs"] == list(parts.inputs.ids)
    assert found["written"] == list(parts.rows.ids)
    assert found["told"] == [[count, 64 * count] for count in range(1, len(parts.rows.ids) + 1)]
    assert_close(found["apart"], len(arrays))


@pytest.mark.parametrize("text", ["3rd of March, 2021", "12 May 1999", "1.1.2000"])
def test_dates_writes_what_python_writes(page, loaded, dates, text):
    parts, arrays = parts_of(dates, text)
    body = f"const model = {loaded(dates)}; {GENERATED}"
    found = page.run(body, list(parts.encoder.queries.ids), page.give(arrays), {})
    assert_generated(found, parts, arrays)


def test_dates_writes_what_it_is_given(page, loaded, dates):
    parts, arrays = parts_of(dates, "12 May 1999", target="1999-05-21")
    target = list(parts.rows.ids)[:-1]
    found = page.run(
        f"const model = {loaded(dates)}; {GENERATED}",
        list(parts.encoder.queries.ids),
        page.give(arrays),
        {"target": target},
    )
    assert_generated(found, parts, arrays)


def test_dates_with_a_changed_decoder(page, loaded, dates):
    edits = [
        ed.Uniform(layer=[0, 1], head=[0, 1, 2, 3], kind="cross"),
        ed.Gate(layer=1, head=2, kind="decoder self"),
        ed.Gate(layer=0, head=1, kind="encoder self"),
    ]
    plain, _ = parts_of(dates, "12 May 1999")
    parts, arrays = parts_of(dates, "12 May 1999", edits=edits)
    assert parts.rows.ids != plain.rows.ids
    changes = {
        "cross 0": {"flat": [True] * 4},
        "cross 1": {"flat": [True] * 4},
        "decoder 1": {"gates": [1, 1, 0, 1]},
        "encoder 0": {"gates": [1, 0, 1, 1]},
    }
    found = page.run(
        f"const model = {loaded(dates)}; {GENERATED}", list(parts.encoder.queries.ids), page.give(arrays), {}, changes
    )
    assert_generated(found, parts, arrays)

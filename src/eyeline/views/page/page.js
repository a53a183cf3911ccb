// The page's model, shared by its parts: traces, state, host, and texts in the reader's language.

import { AttentionMap } from "./weights/attention_map.js";
import { HostError, messageOf } from "./host_error.js";
import { KernelClient } from "./kernel/client.js";
import { JOBS } from "./kernel/jobs.js";
import { TraceClient } from "./weights/trace_client.js";
import { changed, changesOf } from "./weights/changes.js";
import { provenanceOf, provenanceParts, usualPlaces } from "./provenance.js";
import { ownLanguage } from "./language.js";
import { namePatches } from "./pictures/patch_names.js";
import { filled, settingsOf, within, wordsOf } from "./state.js";
import { hostIsDark, isPrinting } from "./theme.js";
import { asTrained, editedRun, sameEdits, Trace } from "./weights/traces.js";
import { said, worded } from "./words.js";

/** One page over one host's model. */
export class Page {
  /**
   * @param {HostModel} model
   * @param {(text: string) => void} announce says a text to screen readers
   * @param {Rooms} rooms what this host has beside the views
   */
  constructor(model, announce, rooms = {}) {
    this.model = model;
    this.rooms = rooms;
    /** What changes runs and shows what that does, where the host can. @type {Editing | null} */
    this.editing = null;
    /** Runs texts while they are typed, where the host runs them in the page. @type {Typing | null} */
    this.typing = null;
    /** The look that a bar or a link of the sentence view is of. @type {(unit: number) => [query: Unit, key: Unit] | null} */
    this.lookOf = () => null;
    /** The places that the state asks for in a run that isn't there yet. @type {Partial<State>} */
    this.owed = {};
    /** Whether the state's edits were left out, as the text that they are of isn't here. */
    this.lost = false;
    // The prefix of its elements' ids: a notebook may show several pages, each from its own module.
    this.id = `eyeline-${Math.random().toString(36).slice(2, 10)}`;
    this.turn = 0;
    /** The settings that words name. */
    this.read = settingsOf;
    this.header = model.get("header");
    this.traces = this.header.traces.map((entry, index) => new Trace(entry, index));
    this.host = new TraceClient(model);
    /** The worker that computes what takes long. */
    this.kernel = model.kernel ?? new KernelClient(JOBS);
    this.announce = announce;
    /** @type {Set<(settings: Partial<State>) => void>} */
    this.listeners = new Set();
    this.fresh = within(filled(this.header.state), this.traces); // the initial state without any words in the address
    /** @type {Readonly<State>} */
    this.state = this.fresh;
    this.namedIn = this.namePatches();
    this.narrow = matchMedia("(max-width: 640px)");
    /** The places that the current view shows: the frame asks the view. */
    this.places = () => usualPlaces(this);
    /** The shared controls that the current view uses. @type {() => Control[]} */
    this.uses = () => [];
    /** Have the view's sentence read anew: for a view whose sentence changes while the state stays. */
    this.retell = () => {};
  }

  /** Change settings; every part then shows the new state. @param {Partial<State>} settings */
  set(settings) {
    if ("trace" in settings || "other" in settings || "edits" in settings) this.owed = {};
    if ("edits" in settings) this.lost = false;
    this.state = Object.freeze(within(this.found({ ...this.state, ...settings }), this.traces));
    this.turn += 1;
    if (this.namedIn !== this.language) this.namedIn = this.namePatches();
    for (const listener of this.listeners) listener(settings);
  }

  /** A state with the runs that it names by their texts and its edits; the text's own run until there is one. @type {(state: State) => State} */
  found(state) {
    /** @type {(at: number) => number} */
    const place = (at) => {
      const base = this.traces[at < 0 ? -1 - at : at];
      return at < 0 && base ? (editedRun(this.traces, base, state.edits) ?? base).index : at;
    };
    const { trace, other } = state;
    if (state.edits.length && this.traces.length && !this.traces[trace < 0 ? -1 - trace : trace]) {
      this.lost = true; // another text's edits would say something else
      return this.found({ ...state, trace: this.fresh.trace, edits: [] });
    }
    const waits = [trace, other?.[0] ?? 0].some((at) => at < 0 && !this.traces[place(at)]?.edits.length);
    if (waits) this.owed = { trace, other };
    return { ...state, trace: place(trace), other: other && /** @type {Place} */ ([place(other[0]), other[1], other[2]]) };
  }

  /**
   * Call a function with the changed settings after each change; returns a function that stops this.
   * @param {(settings: Partial<State>) => void} listener
   */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A function that returns whether the state is still the current one: to be called after waiting for numbers. */
  current() {
    const { turn } = this;
    return () => turn === this.turn;
  }

  /** The words that restore this exact state. */
  get words() {
    const naming = this.typing?.naming();
    /** @type {(at: number) => number | string} */
    const named = (at) => {
      const one = this.traces[at];
      const listed = one?.edits.length && sameEdits(one.edits, this.state.edits);
      const base = listed ? asTrained(this.traces, one) : undefined;
      const name = (one && naming?.of(base ?? one)) ?? (base ?? one)?.index ?? at;
      return base ? `${name}e` : name;
    };
    const { trace, other, own, edits } = this.state;
    const at = named(trace);
    // Words with edits that name no run mean the one with the edits: see `restore`.
    const shown = edits.length && !other && at === trace ? String(at) : at;
    const state = { ...this.state, trace: shown, other: other && [named(other[0]), other[1], other[2]], own: own.map(named) };
    return [wordsOf(state, this.fresh), ...(naming?.words() ?? [])].filter(Boolean).join(" ");
  }

  /**
   * Go to the state described by words: at the end of the promise, if their texts have to be run first.
   * @param {string} words
   * @param {Partial<State>} [kept] settings that stay whatever the words say
   * @returns {Promise<void> | void}
   */
  restore(words, kept = {}) {
    if (this.typing?.carries(words)) return this.typing.open(words).then((known) => (known === null ? undefined : this.restore(known, kept)));
    this.state = this.fresh;
    /** @type {Partial<State>} */
    const settings = { ...settingsOf(words), ...kept };
    const { edits = [], trace, other = this.fresh.other } = settings;
    if (edits.length && trace === undefined && !other) settings.trace = -1 - this.fresh.trace; // the run with the edits
    this.set(settings);
  }

  /** Add a trace that the host has made since. @param {TraceEntry} entry */
  add(entry) {
    this.traces.push(new Trace(entry, this.traces.length));
    this.namePatches();
    return this.traces.length - 1;
  }

  /**
   * Take up traces of the host's: those after the page's own are added, and `count` from `first` on take the places of others.
   * @type {(entries: TraceEntry[], first: number, count: number) => void}
   */
  take(entries, first, count) {
    this.host.forget(first, count);
    entries.slice(first, first + count).forEach((entry, at) => (this.traces[first + at] = new Trace(entry, first + at)));
    for (const entry of entries.slice(this.traces.length)) this.traces.push(new Trace(entry, this.traces.length));
    this.namePatches();
  }

  /** The most telling weight of a trace, if it is known. @param {Trace | undefined} trace @returns {Opening | null} */
  openingOf(trace) {
    if (trace && trace.index === this.fresh.trace) return this.header.opening;
    return (trace && this.typing?.runs.openings.get(trace)) ?? null;
  }

  /** Whether a change of the state follows what is typed, and is no step of the browser's Back. */
  get following() {
    return this.typing?.runs.following ?? false;
  }

  /** Whether the address had to leave out a text, as it is too long. */
  get lacking() {
    return this.typing?.lacking ?? false;
  }

  /** The current trace; undefined on a page without traces, on which only views that need none are opened. */
  get trace() {
    return this.traces[this.state.trace];
  }

  /** @returns {Language} */
  get language() {
    return this.state.language ?? ownLanguage();
  }

  /** Name the patches of images in the page's language; returns it. */
  namePatches() {
    for (const trace of this.traces) namePatches(trace, (place) => this.say("picture.patch", place));
    return this.language;
  }

  /** Whether the page is being printed: on paper it is light, and has no controls. */
  get printing() {
    return isPrinting();
  }

  get dark() {
    if (this.printing) return false;
    return this.state.theme ? this.state.theme === "dark" : hostIsDark();
  }

  /** Whether a lesson can be opened beside the views. */
  get canLesson() {
    return Boolean(this.header.lesson);
  }

  /**
   * What is shown, as plain data: text, model, layer, head, mask, changes, quantity, unit, version.
   * @param {ShownPlace[]} [places] the places of the numbers, if they aren't the current view's
   */
  provenance(places = this.places()) {
    return provenanceOf(this, places);
  }

  /** The same in words, for whatever leaves the page. @param {ShownPlace[]} [places] */
  provenanceParts(places = this.places()) {
    return provenanceParts(this, places);
  }

  /**
   * An interface text, with {names} filled in.
   * @param {string} key
   * @param {Values} [values]
   */
  say(key, values) {
    return worded(this.language, key, values);
  }

  /**
   * The name of a trace among several: its text, and the change that distinguishes its run.
   * @param {Trace} trace
   * @param {number} [most] the largest number of characters of the text
   */
  called(trace, most = 48) {
    const whole = trace.image ? this.say("picture.text", { ...trace.image }) : trace.queries.text;
    const text = whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
    const alone = this.traces.every((one) => one === trace || one.queries.text !== trace.queries.text);
    if (!trace.name || (alone && trace.name === "as trained")) return text;
    if (trace.edits.length) return this.say("trace.named", { text, name: this.say("name.edited") });
    const name = trace.name.split(", ").map((part) => said(this.language, `name.${part}`) ?? part).join(", ");
    return this.say("trace.named", { text, name });
  }

  /** The message of an error. @param {unknown} error */
  reason(error) {
    if (error instanceof HostError && error.argument === "server") return this.say("server.gone");
    if (error instanceof HostError && error.argument === "webassembly") return this.say("kernel.forbidden");
    const message = messageOf(error);
    return error instanceof HostError && said(this.language, message) ? this.say(message, error.values) : message;
  }

  /**
   * A layer and a head in words: "L5H2 of L0 to L5, H0 to H11".
   * @param {Trace} trace
   * @param {number} layer
   * @param {HeadChoice} head
   */
  named(trace, layer, head) {
    const lasts = { lastLayer: trace.depth - 1, lastHead: trace.heads - 1 };
    if (typeof head === "number") return this.say("place.head", { layer, head, ...lasts });
    return this.say(`place.${head}`, { layer, ...lasts });
  }

  /**
   * The weights of a place from unit to unit, as the model has them; by default of the place that the state names, with
   * what the state changes ("what if").
   * @param {Place} [place]
   * @param {UnitKind} unit
   */
  async attention(place, unit = this.state.unit) {
    const [at, layer, head] = place ?? [this.state.trace, this.state.layer, this.state.head];
    const trace = this.traces[at];
    const wanted = typeof head === "number" ? [head] : Array.from({ length: trace.heads }, (_, number) => number);
    const trained = await Promise.all(wanted.map((number) => this.host.head(trace, layer, number)));
    const changes = place ? null : changesOf(this.state, trace);
    const heads = changes ? changed(trained, changes) : trained;
    return new AttentionMap(heads, head === "max" ? "max" : "mean", trace.queries.units(unit), trace.keys.units(unit));
  }

  /**
   * The indices of a line's shown units: those that aren't set aside, unless the state shows them one by one.
   * @param {Unit[]} units
   */
  shown(units) {
    const kept = units.filter((unit) => this.state.special === "shown" || !unit.aside);
    return (kept.length ? kept : units).map((unit) => unit.index);
  }
}

// What the parts of the page share: the traces, the state, where numbers come from, and how texts are said.

import { AttentionMap } from "./weights/attention_map.js";
import { HostClient } from "./weights/host_client.js";
import { filled, settingsOf, within, wordsOf } from "./state.js";
import { hostIsDark } from "./theme.js";
import { Trace } from "./weights/traces.js";
import { said, worded } from "./words.js";

const own = (language) => (language.toLowerCase().startsWith("vi") ? "vi" : "en");

/** One page over one host's model. */
export class Page {
  constructor(model, announce) {
    this.model = model;
    // What its elements' ids begin with. A notebook may show several pages, each of a module of its own.
    this.id = `eyeline-${Math.random().toString(36).slice(2, 10)}`;
    this.turn = 0;
    this.header = model.get("header");
    this.traces = this.header.traces.map((entry, index) => new Trace(entry, index));
    this.source = new HostClient(model);
    this.announce = announce; // said to screen readers
    this.listeners = new Set();
    this.fresh = within(filled(this.header.state), this.traces); // as the page opens without any words
    this.state = this.fresh;
    this.narrow = matchMedia("(max-width: 640px)");
  }

  /** Change settings; every part then shows the new state. */
  set(settings) {
    this.state = Object.freeze(within({ ...this.state, ...settings }, this.traces));
    this.turn += 1;
    for (const listener of this.listeners) listener(settings);
  }

  /** Have a function called, with the settings that were changed, after each change. */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A function that says whether the state is still the one of now: to be asked after waiting for numbers. */
  current() {
    const { turn } = this;
    return () => turn === this.turn;
  }

  /** A few words that restore this exact state. */
  get words() {
    return wordsOf(this.state, this.fresh);
  }

  /** Go to the state that words say. */
  restore(words) {
    this.state = this.fresh;
    this.set(settingsOf(words));
  }

  /** Take in a trace that the host has made meanwhile, and its place. */
  add(entry) {
    this.traces.push(new Trace(entry, this.traces.length));
    return this.traces.length - 1;
  }

  /** The trace that is looked at. */
  get trace() {
    return this.traces[this.state.trace];
  }

  get language() {
    return this.state.language ?? own(navigator.language ?? "en");
  }

  get dark() {
    return this.state.theme ? this.state.theme === "dark" : hostIsDark();
  }

  /** An interface text, {names} filled in. */
  say(key, values) {
    return worded(this.language, key, values);
  }

  /** What a trace is called where there are several: by its text, and by how its run differs from others of it. */
  called(trace) {
    const text = trace.queries.text.length > 48 ? `${trace.queries.text.slice(0, 47)}…` : trace.queries.text;
    const alone = this.traces.every((one) => one === trace || one.queries.text !== trace.queries.text);
    if (!trace.name || (alone && trace.name === "as trained")) return text;
    const name = trace.name.split(", ").map((part) => said(this.language, `name.${part}`) ?? part).join(", ");
    return this.say("trace.named", { text, name });
  }

  /** The weights of a place, [trace, layer, head], from unit to unit; by default those that the state names. */
  async attention([at, layer, head] = [this.state.trace, this.state.layer, this.state.head], unit = this.state.unit) {
    const trace = this.traces[at];
    const wanted = typeof head === "number" ? [head] : Array.from({ length: trace.heads }, (_, number) => number);
    const heads = await Promise.all(wanted.map((number) => this.source.head(trace, layer, number)));
    return new AttentionMap(heads, head === "max" ? "max" : "mean", trace.queries.units(unit), trace.keys.units(unit));
  }

  /** The places of a line's units that are drawn: those that aren't set aside, unless all are asked for. */
  shown(units) {
    const kept = units.filter((unit) => this.state.special || !unit.aside);
    return (kept.length ? kept : units).map((unit) => unit.index);
  }
}

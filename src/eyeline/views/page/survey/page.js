// The model of a survey's page, shared by its parts: surveys, state, host, and texts in the reader's language.

import { isPrinting, hostIsDark } from "../theme.js";
import { HostError, messageOf } from "../host_error.js";
import { HostClient } from "../weights/host_client.js";
import { wordsOf } from "../state.js";
import { ownLanguage } from "../language.js";
import { worded } from "../words.js";
import { MeasuredHeads } from "./measured.js";
import { provenanceOf, provenanceParts } from "./provenance.js";
import { filled, settingsIn, within } from "./state.js";

/** One page over one or two surveys of one host. */
export class SurveyPage {
  /**
   * @param {HostModel} model
   * @param {(text: string) => void} announce says a text to screen readers
   */
  constructor(model, announce) {
    this.model = model;
    // The prefix of its elements' ids: a notebook may show several pages, each from its own module.
    this.id = `eyeline-${Math.random().toString(36).slice(2, 10)}`;
    this.turn = 0;
    this.header = /** @type {SurveyHeader} */ (/** @type {unknown} */ (model.get("header")));
    this.surveys = this.header.surveys.map((entry) => new MeasuredHeads(entry));
    this.host = new HostClient(model);
    this.announce = announce;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.fresh = within(filled(this.header.state), this.surveys);
    /** @type {Readonly<SurveyState>} */
    this.state = this.fresh;
    this.narrow = matchMedia("(max-width: 640px)");
  }

  /** Change settings; every part then shows the new state. @param {Partial<SurveyState>} settings */
  set(settings) {
    this.state = Object.freeze(within({ ...this.state, ...settings }, this.surveys));
    this.turn += 1;
    for (const listener of this.listeners) listener();
  }

  /** Call a function after each change; returns a function that stops this. @param {() => void} listener */
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
    return wordsOf(this.state, this.fresh);
  }

  /** The settings that words name. @param {string} words */
  read(words) {
    return settingsIn(words);
  }

  /**
   * Go to the state described by words.
   * @param {string} words
   * @param {Partial<SurveyState>} [kept] settings that stay whatever the words say
   */
  restore(words, kept = {}) {
    this.state = this.fresh;
    this.set({ ...settingsIn(words), ...kept });
  }

  /** The chosen survey. */
  get survey() {
    return this.surveys[this.state.survey];
  }

  /** @returns {Language} */
  get language() {
    return this.state.language ?? ownLanguage();
  }

  /** Whether the page is dark: on paper it never is. */
  get dark() {
    if (isPrinting()) return false;
    return this.state.theme ? this.state.theme === "dark" : hostIsDark();
  }

  /**
   * An interface text, with {names} filled in.
   * @param {string} key
   * @param {Values} [values]
   */
  say(key, values) {
    return worded(this.language, key, values);
  }

  /** The message of an error. @param {unknown} error */
  reason(error) {
    if (error instanceof HostError && error.argument === "server") return this.say("server.gone");
    return messageOf(error);
  }

  /** The surveys that the current view shows: both on the map, one where a head is open. */
  get shown() {
    return this.state.view === "map" ? this.surveys : [this.survey];
  }

  /** What is shown, as plain data: corpora, models, documents, tokens, settings, measure, version. */
  provenance() {
    return provenanceOf(this);
  }

  /** The same in words, for whatever leaves the page. */
  provenanceParts() {
    return provenanceParts(this);
  }
}

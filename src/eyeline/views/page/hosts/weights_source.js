// Where a live page's weights come from: blocks of the file itself, or a file beside it on the same host.

import { HostError } from "../host_error.js";

const LOOKS = 20; // milliseconds between two looks at whether a block has arrived
const CACHE = "eyeline-weights";

/** The pieces in their order: their models, and their places in these. @type {(live: LiveContents) => [model: number, place: number][]} */
const placesOf = ({ models, order }) => order.flatMap((model) => models[model].pieces.map((_, place) => /** @type {[number, number]} */ ([model, place])));

/** The element of a block, once the browser has read all of it; null if the file ends before it. @type {(id: string) => Promise<HTMLElement | null>} */
const arrived = async (id) => {
  for (;;) {
    const found = document.getElementById(id);
    if (found?.nextElementSibling || document.readyState !== "loading") return found;
    await new Promise((done) => void setTimeout(done, LOOKS));
  }
};

/** The error for weights that aren't what was written. @type {(live: LiveContents) => HostError} */
export const damaged = (live) =>
  new HostError({ argument: "file", message: live.source ? "live.changed" : "live.damaged" });

/**
 * The pieces of the weights, one after the other: base64 texts, or bytes. What they were taken from is let go.
 * @param {LiveContents} live
 * @param {(read: WeightsRead) => void} told
 * @returns {AsyncGenerator<WeightsPiece, void, void>}
 */
export const piecesOf = (live, told) => (live.source ? fetched(live, live.source, told) : ofBlocks(live, told));

/**
 * @param {LiveContents} live
 * @param {(read: WeightsRead) => void} told
 * @returns {AsyncGenerator<WeightsPiece, void, void>}
 */
async function* ofBlocks(live, told) {
  const size = live.models.flatMap(({ pieces }) => pieces).reduce((sum, bytes) => sum + bytes, 0);
  let done = 0;
  for (const [model, place] of placesOf(live)) {
    const element = await arrived(`eyeline-weights-${model}-${place}`);
    if (!element) throw damaged(live);
    const data = element.textContent ?? "";
    element.remove(); // its text is 4/3 of the bytes
    yield { model, place, data };
    done += live.models[model].pieces[place];
    told({ done, size });
  }
}

/** The browser's cache, where it lets pages have one: not without https. @returns {Promise<Cache | null>} */
const cacheOf = async () => {
  try {
    return await caches.open(CACHE);
  } catch {
    return null;
  }
};

/**
 * @param {LiveContents} live
 * @param {{ file: string, size: number }} source
 * @param {(read: WeightsRead) => void} told
 * @returns {AsyncGenerator<WeightsPiece, void, void>}
 */
async function* fetched(live, { file, size }, told) {
  const cache = await cacheOf();
  const address = new URL(file, document.baseURI).href;
  const kept = await cache?.match(address);
  const response = kept ?? (await asked(address));
  const bytes = new Uint8Array(size);
  let filled = 0;
  let at = 0;
  const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
  const more = async () => {
    const { done, value } = await reader.read().catch(() => { throw unfetched(address); });
    if (done || filled + value.length > size) throw damaged(live);
    bytes.set(value, filled);
    filled += value.length;
    told({ done: filled, size });
  };
  try {
    for (const [model, place] of placesOf(live)) {
      const end = at + live.models[model].pieces[place];
      while (filled < end) await more();
      yield { model, place, data: bytes.slice(at, end) };
      at = end;
    }
  } finally {
    if (at < size) await cache?.delete(address); // a kept one that isn't right would stay so
  }
  if (cache && !kept) await keep(cache, address, bytes);
}

/** Keep the weights, and no older ones of this page. @type {(cache: Cache, address: string, bytes: Uint8Array<ArrayBuffer>) => Promise<void>} */
const keep = async (cache, address, bytes) => {
  const folder = new URL(".", address).href;
  try {
    for (const { url } of await cache.keys()) if (new URL(".", url).href === folder) await cache.delete(url);
    await cache.put(address, new Response(bytes));
  } catch {
    // There is no room: it is fetched again.
  }
};

/** @type {(address: string) => HostError} */
const unfetched = (address) =>
  new HostError({ argument: "file", message: address.startsWith("file:") ? "live.hostless" : "live.unfetched" });

/** @type {(address: string) => Promise<Response>} */
const asked = async (address) => {
  const response = await fetch(address).catch(() => { throw unfetched(address); });
  if (!response.ok || !response.body) throw unfetched(address);
  return response;
};

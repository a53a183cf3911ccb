// Two workers run one model: each has half of the heads and of the inner units, and they swap their halves' sums, twice
// in a layer.

import { Work } from "./attention.js";
import { readConfig } from "./config.js";
import { readLayer } from "./encoder.js";
import { Parts } from "./parts.js";
import { Room } from "./placing.js";
import { buffersOf, editsOf, halvesOf, joinedLayers } from "./shares.js";
import { Tensors } from "./tensors.js";

/**
 * What all layers of a run have in common; `first` is the first that is run.
 * @typedef {{ first: number, keep: boolean, ask: AttendCall["ask"], mask: HeadMask, scale: number }} Settings
 */

/** The messages of a port, one after the other, each awaited. */
class Inbox {
  /** @param {MessagePort} port */
  constructor(port) {
    this.port = port;
    /** @type {any[]} */
    this._come = [];
    /** @type {((message: any) => void) | null} */
    this._wanted = null;
    port.onmessage = ({ data }) => {
      const wanted = this._wanted;
      this._wanted = null;
      if (wanted) wanted(data);
      else this._come.push(data);
    };
  }

  /** @returns {Promise<any>} */
  _coming() {
    return new Promise((done) => {
      this._wanted = done;
    });
  }

  /** The next message; throws what went wrong with the other. @returns {Promise<any>} */
  async next() {
    const message = this._come.length ? this._come.shift() : await this._coming();
    if (message.error) throw new Error(message.error);
    return message;
  }
}

/**
 * Swaps rows with the other worker.
 * @param {Inbox} inbox
 * @param {Room} room
 * @param {Placed} rows memory for the other's
 */
const swapping = (inbox, room, rows) => async (/** @type {Placed} */ x) => {
  const numbers = room.numbers(x).slice();
  inbox.port.postMessage({ numbers }, [numbers.buffer]);
  const message = await inbox.next();
  if (!message.numbers) throw new Error("stopped");
  room.numbers(rows).set(message.numbers);
  return rows;
};

/** The other worker, as the first one sees it. */
export class Partner {
  /** @param {MessagePort} port @param {LiveConfig} config */
  constructor(port, config) {
    this.port = port;
    this.config = config;
    this.inbox = new Inbox(port);
  }

  /** Have it read its half of the weights. @param {LiveWeights} files */
  async load({ config, tensors }) {
    const layers = Object.entries(tensors).filter(([name]) => name.startsWith("encoder."));
    this.port.postMessage({ config, tensors: Object.fromEntries(layers) });
    await this.inbox.next();
  }

  /**
   * Begin a run.
   * @param {Room} room
   * @param {Float32Array} embedded
   * @param {(LayerEdits | null)[]} edits of each layer
   * @param {Settings} settings
   */
  begin(room, embedded, edits, settings) {
    const { heads, width } = this.config;
    const N = embedded.length / width;
    const { port1, port2 } = new MessageChannel();
    const inbox = new Inbox(port1);
    const [, share] = halvesOf(this.config);
    const theirs = edits.map((one) => editsOf(one, share, heads, N, N));
    this.port.postMessage({ run: { embedded, edits: theirs, settings } }, [port2]);
    return {
      swap: swapping(inbox, room, room.rows(N, width)),
      /** A layer's heads with the other's. @param {LiveLayer} layer */
      joined: async (layer) => joinedLayers(layer, (await inbox.next()).layer),
      end: () => {
        port1.postMessage({ stopped: true });
        port1.close();
      },
    };
  }
}

/** The second half of a model's layers. */
class Half {
  /** @param {Kernel} kernel @param {LiveConfig} config @param {Tensors} weights */
  constructor(kernel, config, weights) {
    this.kernel = kernel;
    this.config = config;
    this.share = halvesOf(config)[1];
    const parts = new Parts(new Room(kernel), weights, config, this.share);
    this.layers = Array.from({ length: config.layers }, (_, number) => readLayer(parts, number));
  }

  /**
   * Take part in a run, to its end or until the other says so.
   * @param {{ embedded: Float32Array, edits: (LayerEdits | null)[], settings: Settings }} run
   * @param {MessagePort} port
   */
  async run({ embedded, edits, settings }, port) {
    const { kernel, config, share, layers } = this;
    const N = embedded.length / config.width;
    const inbox = new Inbox(port);
    const room = new Room(kernel);
    try {
      const x = room.put(embedded, config.width);
      const work = new Work(room, config, share, N);
      const swap = swapping(inbox, room, room.rows(N, config.width));
      for (let number = settings.first; number < layers.length; number++) {
        const layer = await layers[number].over(x, { ...settings, work, edits: edits[number], swap });
        if (layer) port.postMessage({ layer: { ...layer, edits: null } }, buffersOf(layer));
      }
    } catch (error) {
      port.postMessage({ error: String(error) });
    } finally {
      room.leave();
    }
  }
}

/**
 * The other worker: reads its half of the weights, then takes part in runs.
 * @type {(kernel: Kernel, port: MessagePort) => void}
 */
export const servePartner = (kernel, port) => {
  /** @type {Half | null} */
  let half = null;
  port.onmessage = ({ data, ports }) => {
    try {
      if (data.run) half?.run(data.run, ports[0]);
      else {
        half = new Half(kernel, readConfig(data.config), new Tensors(data.tensors));
        port.postMessage({ ready: true });
      }
    } catch (error) {
      port.postMessage({ error: String(error) });
    }
  };
};

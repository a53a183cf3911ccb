// An error that a host reports, and its words.

/** An error replied by the host: the invalid argument, and the reason. */
export class HostError extends Error {
  /** @param {Refusal & { job?: number | null }} refusal */
  constructor({ argument, message, values, job = null }) {
    super(message);
    this.argument = argument;
    this.values = values; // what is filled in, if the message is the key of a text of the page's
    this.job = job; // the number of another job that is running
  }
}

/** The message of an error, whatever was thrown. @type {(error: unknown) => string} */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

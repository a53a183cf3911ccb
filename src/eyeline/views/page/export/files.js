// Pictures as PNG, and downloads.

import { contextOf } from "../drawing/dom.js";

const NOT_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const LARGEST = 16384; // pixels of a canvas's side

/** An SVG text without characters that XML forbids. @type {(svg: string) => string} */
export const sound = (svg) => svg.replace(NOT_XML, "\ufffd");

/** An SVG text as a PNG, at two PNG pixels per pixel. @type {(svg: string) => Promise<Blob>} */
export const png = async (svg) => {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { width, height } = image;
    const times = Math.min(2, LARGEST / Math.max(width, height), Math.sqrt(1.2e8 / (width * height)));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(width * times), Math.round(height * times)];
    contextOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
    /** @type {Blob | null} */
    const blob = await new Promise((done) => void canvas.toBlob(done, "image/png"));
    if (!blob) throw new Error(`${canvas.width} × ${canvas.height}`);
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
};

/** Download a file. @type {(name: string, blob: Blob) => void} */
export const download = (name, blob) => {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60e3); // browsers read it after the click
};

// The viewport: the visible part of a table of square cells. Places are in cells, sizes in CSS pixels.

const LARGEST = 160; // a cell's side when zoomed in all the way

/** A window of `width` × `height` pixels onto `rows` × `columns` cells of `size` pixels each. */
export class Viewport {
  constructor() {
    this.rows = 1;
    this.columns = 1;
    this.width = 1;
    this.height = 1;
    this.top = 0;
    this.left = 0;
    this.size = 1;
    this.snap = 1;
  }

  /** The size of a cell if all are visible; whole device pixels where that costs little room. */
  get least() {
    const size = Math.min(this.width / this.columns, this.height / this.rows);
    const whole = Math.floor(size * this.snap + 1e-6) / this.snap;
    return whole >= 0.9 * size ? whole : size;
  }

  get most() {
    return Math.max(LARGEST, this.least);
  }

  /** Whether all cells are visible. */
  get whole() {
    return this.size <= this.least * 1.0001;
  }

  /** The visible cells; null for all. @returns {Box | null} */
  get box() {
    if (this.whole) return null;
    /** @type {(place: number) => number} */
    const round = (place) => Number(place.toFixed(2));
    const bottom = Math.min(this.top + this.height / this.size, this.rows);
    const right = Math.min(this.left + this.width / this.size, this.columns);
    return [round(this.top), round(this.left), round(bottom), round(right)];
  }

  /**
   * Set the size of the table or the window; `snap` is the number of device pixels per CSS pixel.
   * @param {{ rows: number, columns: number, width: number, height: number, snap: number }} to
   */
  resize({ rows, columns, width, height, snap }) {
    Object.assign(this, { rows, columns, width, height, snap });
  }

  /** Fit a box, or without one the whole table, into the window. @param {Box | null} box */
  show(box) {
    if (box) {
      const [top, left, bottom, right] = box;
      this.size = Math.min(this.width / (right - left), this.height / (bottom - top));
      this.top = (top + bottom - this.height / this.size) / 2;
      this.left = (left + right - this.width / this.size) / 2;
    } else {
      Object.assign(this, { size: this.least, top: 0, left: 0 });
    }
    this._keep();
  }

  /**
   * Scale the cells by a factor around a pixel.
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [row, column] = [this.top + y / this.size, this.left + x / this.size];
    this.size = Math.min(Math.max(this.size * factor, this.least), this.most);
    this.top = row - y / this.size;
    this.left = column - x / this.size;
    this._keep();
  }

  /**
   * Move the table by pixels.
   * @param {number} x
   * @param {number} y
   */
  pan(x, y) {
    this.top -= y / this.size;
    this.left -= x / this.size;
    this._keep();
  }

  /**
   * Move as little as needed to make a cell fully visible.
   * @param {number} row
   * @param {number} column
   */
  reveal(row, column) {
    this.top = Math.max(Math.min(this.top, row), row + 1 - this.height / this.size);
    this.left = Math.max(Math.min(this.left, column), column + 1 - this.width / this.size);
    this._keep();
  }

  /**
   * The cell at a pixel, or null where there is none.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    const [row, column] = [Math.floor(this.top + y / this.size), Math.floor(this.left + x / this.size)];
    const within = row >= 0 && column >= 0 && row < this.rows && column < this.columns;
    return within && x >= 0 && y >= 0 && x < this.width && y < this.height ? { row, column } : null;
  }

  /** The cells that are at least partly visible, as integers: rows [top, bottom), columns [left, right). */
  get seen() {
    return {
      top: Math.floor(this.top),
      left: Math.floor(this.left),
      bottom: Math.min(Math.ceil(this.top + this.height / this.size - 1e-6), this.rows),
      right: Math.min(Math.ceil(this.left + this.width / this.size - 1e-6), this.columns),
    };
  }

  /** The pixel at which a row begins. @param {number} row */
  y(row) {
    return (row - this.top) * this.size;
  }

  /** The pixel at which a column begins. @param {number} column */
  x(column) {
    return (column - this.left) * this.size;
  }

  _keep() {
    if (!(this.size > 0)) this.size = this.least;
    this.size = Math.min(Math.max(this.size, this.least), this.most);
    this.top = Math.max(Math.min(this.top, this.rows - this.height / this.size), 0);
    this.left = Math.max(Math.min(this.left, this.columns - this.width / this.size), 0);
  }
}

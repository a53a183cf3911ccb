// Products of rows with packed matrices, and what is computed row by row: layer norm.

import { evaluated } from "./layout.js";
import { RECORDS } from "./records.js";

/** The activation functions, as the kernel numbers them. @type {(name: ActivationName | undefined) => number} */
const activationOf = (name) => {
  const found = RECORDS.enums.Activation[(name ?? "none").toUpperCase()];
  if (found === undefined) throw new Error(`activation must be relu, gelu, gelu_tanh or silu, got ${name}`);
  return found;
};

/**
 * A matrix (outputs, inputs) and its bias, packed in the kernel's memory: panels of a few outputs each.
 * @type {(kernel: Kernel, of: (row: number, into: Float32Array) => void, outputs: number, inputs: number, bias?: Float32Array | null) => PackedMatrix}
 */
const packed = (kernel, of, outputs, inputs, bias = null) => {
  const { PRODUCT_LINE: line } = RECORDS.sizes;
  const { memory } = kernel;
  const panels = Math.ceil(outputs / line);
  const [weights, biases] = [memory.take(4 * panels * inputs * line), memory.take(4 * panels * line)];
  const [numbers, added, row] = [memory.floats(weights, panels * inputs * line), memory.floats(biases, panels * line), new Float32Array(inputs)];
  numbers.fill(0, (panels - 1) * inputs * line);
  added.fill(0);
  for (let output = 0; output < outputs; output++) {
    of(output, row);
    const first = Math.floor(output / line) * inputs * line + (output % line);
    for (let input = 0; input < inputs; input++) numbers[first + input * line] = row[input];
    added[output] = bias ? bias[output] : -0;
  }
  return { weights, bias: biases, outputs, inputs, panels };
};

/** A matrix of float32. @type {(kernel: Kernel, W: Float32Array, outputs: number, inputs: number, bias?: Float32Array | null) => PackedMatrix} */
export const packFloats = (kernel, W, outputs, inputs, bias) =>
  packed(kernel, (row, into) => into.set(W.subarray(row * inputs, (row + 1) * inputs)), outputs, inputs, bias);

/** A matrix of int8 with a scale per output: each number is int8 · scale. @type {(kernel: Kernel, W: Int8Array, scales: Float32Array, outputs: number, inputs: number, bias?: Float32Array | null) => PackedMatrix} */
export const packInt8 = (kernel, W, scales, outputs, inputs, bias) =>
  packed(
    kernel,
    (row, into) => {
      for (let at = 0, from = row * inputs; at < inputs; at++, from++) into[at] = W[from] * scales[row];
    },
    outputs, inputs, bias,
  );

/** Give a matrix's memory back. @type {(kernel: Kernel, W: PackedMatrix) => void} */
export const unpack = ({ memory }, { weights, bias }) => {
  memory.give(weights);
  memory.give(bias);
};

/** Rows of a record. @type {(name: string, rows: Placed | undefined) => Record<string, number>} */
const rowsOf = (name, rows) => (rows ? { [`${name}.address`]: rows.at, [`${name}.outer`]: 0, [`${name}.inner`]: rows.stride } : {});

/** activation(x·Wᵀ + bias) + residual, for each row of x. @type {(kernel: Kernel, W: PackedMatrix, x: Placed, into: Placed, options?: { activation?: ActivationName, residual?: Placed }) => void} */
export const product = (kernel, W, x, into, { activation, residual } = {}) => {
  const { ROW_BLOCK: most, PANEL_BLOCK: wide, PRODUCT_HEIGHT: height, PRODUCT_LINE: line } = RECORDS.sizes;
  const { rows } = x;
  if (x.columns !== W.inputs || into.columns !== W.outputs || into.rows !== rows) {
    throw new Error(`x must be (rows, ${W.inputs}) and into (rows, ${W.outputs}), got (${rows}, ${x.columns}) and (${into.rows}, ${into.columns})`);
  }
  if (!rows) return;
  let blocks = Math.ceil(rows / most);
  let block = Math.ceil(rows / blocks);
  if (blocks > 1) {
    block = Math.ceil(block / height) * height;
    blocks = Math.ceil(rows / block);
  }
  const panelBlock = Math.min(wide, W.panels);
  const count = blocks * Math.ceil(W.panels / panelBlock);
  const { record, workspace } = kernel.rowCall("product", evaluated(RECORDS.product, { row_block: block, height, line }));
  record.set({
    tasks: count, rows, together: rows, inputs: W.inputs, outputs: W.outputs, row_block: block, row_blocks: blocks,
    panels: W.panels, panel_block: panelBlock, segment: Math.max(W.inputs, 1), weights: W.weights, bias: W.bias,
    stored: RECORDS.enums.Half.NOT, activation: activationOf(activation),
    ...rowsOf("x", x), ...rowsOf("residual", residual), ...rowsOf("y", into),
  });
  kernel.run("product", record.at, workspace, count);
};

/** Layer norm of x + residual. @type {(kernel: Kernel, x: Placed, weight: Placed, bias: Placed, epsilon: number, options?: { residual?: Placed, into?: Placed }) => void} */
export const norm = (kernel, x, weight, bias, epsilon, { residual, into = x } = {}) => {
  const { rows, columns } = x;
  if (!rows) return;
  const block = Math.max(1, Math.min(rows, Math.floor(RECORDS.sizes.NUMBERS_PER_TASK / Math.max(columns, 1))));
  const tasks = Math.ceil(rows / block);
  const { record, workspace } = kernel.rowCall("rowwise", evaluated(RECORDS.rowwise, { columns, heads: 1 }));
  record.set({
    tasks, rows, together: rows, columns, row_block: block, kind: RECORDS.enums.RowPass.LAYER_NORM, heads: 1,
    weight: weight.at, bias: bias.at, epsilon, ...rowsOf("x", x), ...rowsOf("residual", residual), ...rowsOf("y", into),
  });
  kernel.run("rowwise", record.at, workspace, tasks);
};

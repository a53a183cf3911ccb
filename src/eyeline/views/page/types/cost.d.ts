// The types of the cost view.

interface LayerSizes {
  heads: number;
  head_dim: number;
}

type TimePoints = [tokens: number, seconds: number][];

/** A curve over the number of tokens: where its values are guessed it is dashed; dots are measured. */
interface CostCurve {
  kind: string;
  name: string;
  value(n: number): number;
  guessed?(n: number): boolean;
  dots?: [tokens: number, value: number][];
}

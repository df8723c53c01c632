import { mulDiv } from "./selected";

export interface Range {
  from: number;
  to: number;
}

/** The begins of this number of buckets of a range, and the end of the last one. */
export function edgesOf({ from, to }: Range, buckets: number): number[] {
  return Array.from({ length: buckets + 1 }, (_, at) => from + mulDiv(at, to - from, buckets));
}

/** Adds a duration to a series, spread evenly over a stretch of time; nothing is lost by rounding. */
export function spread(series: Float64Array | number[], edges: number[], { from, to }: Range, duration: number): void {
  const begin = edges[0]!;
  const width = (edges[series.length]! - begin) / series.length;
  let bucket = Math.max(0, Math.min(series.length - 1, Math.floor((from - begin) / width) - 1));
  if (to <= from) {
    while (bucket + 1 < series.length && edges[bucket + 1]! <= from) bucket++;
    series[bucket]! += duration;
    return;
  }
  let before = 0;
  for (; bucket < series.length && edges[bucket]! < to; bucket++) {
    if (edges[bucket + 1]! <= from) continue;
    const until = mulDiv(duration, Math.min(edges[bucket + 1]!, to) - from, to - from);
    series[bucket]! += until - before;
    before = until;
  }
}

/** Durations by time. */
export class Series {
  private readonly values: Float64Array;
  /** The amount that is spread over all buckets. */
  private everywhere = 0;

  constructor(private readonly edges: number[]) {
    this.values = new Float64Array(Math.max(0, edges.length - 1));
  }

  /** Spreads a duration evenly over a stretch of time. */
  add(stretch: Range, duration: number): void {
    const { length } = this.values;
    if (length === 0) return;
    // All amounts spread over the whole range are divided once.
    if (length > 1 && stretch.from === this.edges[0] && stretch.to === this.edges[length]) this.everywhere += duration;
    else spread(this.values, this.edges, stretch, duration);
  }

  addTo(bucket: number, duration: number): void {
    this.values[bucket]! += duration;
  }

  finish(): number[] {
    const { edges, everywhere } = this;
    const [first, last] = [edges[0]!, edges[edges.length - 1]!];
    const until = (bucket: number) => mulDiv(everywhere, edges[bucket]! - first, last - first);
    return Array.from(this.values, (own, bucket) => (everywhere === 0 ? own : own + until(bucket + 1) - until(bucket)));
  }
}

import { mulDiv } from "./selected";

export interface Range {
  from: number;
  to: number;
}

/** Where each of so many buckets of a range begins, and where the last one ends. */
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

import type { HistogramAnswer, HistogramBucket, Selection } from "../api/types";
import { Buckets, bucketOf, bucketRange, type BucketCount } from "./buckets";
import type { Data } from "./data";
import { foldedHistogram, forEachSelected, selectsOwners } from "./selected";

/** Returns the histogram of the waits of a selection, by the time that the selection has of
 * each. */
export function histogram(data: Data, selection: Selection): HistogramAnswer {
  const hasOwner = selectsOwners(selection);
  const times = new Map<number, number>();
  const all = new Buckets();
  let waits = 0;
  let total = 0;
  const addTime = (bucket: number, time: number) => times.set(bucket, (times.get(bucket) ?? 0) + time);

  forEachSelected(data, selection, (selected) => {
    const time = selected.durations.reduce((sum, duration) => sum + duration, 0);
    waits += selected.waits;
    total += time;
    if (!selected.folded || hasOwner) {
      const mean = selected.folded ? Math.floor(time / Math.max(1, selected.waits)) : time;
      all.add(mean, selected.waits);
      addTime(bucketOf(mean), time);
      return;
    }
    const own = foldedHistogram(data, selected.row, selected.waits);
    all.addBuckets(own, Math.min(data.folded.max_ns[selected.row]!, time));
    spreadOver(own, time, addTime);
  });

  const buckets = all.counted().map(([bucket, count]): HistogramBucket => {
    const { from, to } = bucketRange(bucket);
    return { from_ns: from, to_ns: to, waits: count, duration_ns: times.get(bucket) ?? 0 };
  });
  return { buckets, waits, duration_ns: total, max_ns: all.max, p50_ns: all.percentile(50), p90_ns: all.percentile(90), p99_ns: all.percentile(99) };
}

/** Divides a time by what the buckets would have if their waits were all as short as they can be. */
function spreadOver(buckets: readonly BucketCount[], time: number, add: (bucket: number, time: number) => void): void {
  const least = ([bucket, count]: BucketCount) => BigInt(Math.max(1, bucketRange(bucket).from)) * BigInt(count);
  const whole = Number(buckets.reduce((sum, one) => sum + least(one), 0n));
  let until = 0n;
  let before = 0;
  for (const one of buckets) {
    until += least(one);
    const after = Math.min(time, Math.max(before, Math.round(time * (Number(until) / whole))));
    add(one[0], after - before);
    before = after;
  }
  const last = buckets[buckets.length - 1];
  if (last !== undefined) add(last[0], time - before);
}

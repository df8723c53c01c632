import type { HistogramAnswer, HistogramBucket, Selection } from "../api/types";
import { Buckets, bucketOf, bucketRange } from "./buckets";
import type { Data } from "./data";
import { forEachSelected } from "./selected";

/** How long the waits of a selection were: the time that the selection has of each. */
export function histogram(data: Data, selection: Selection): HistogramAnswer {
  const hasOwner = (selection.filter ?? []).some((condition) => condition.aspect.startsWith("owner-"));
  const sums = new Map<number, { waits: number; duration: number }>();
  const all = new Buckets();
  const answer = { waits: 0, duration_ns: 0, max_ns: 0 };
  const add = (bucket: number, waits: number, duration: number) => {
    const sum = sums.get(bucket) ?? { waits: 0, duration: 0 };
    sum.waits += waits;
    sum.duration += duration;
    sums.set(bucket, sum);
    all.addBucket(bucket, waits);
    answer.waits += waits;
  };

  forEachSelected(data, selection, (selected) => {
    const time = selected.durations.reduce((sum, duration) => sum + duration, 0);
    answer.duration_ns += time;
    if (!selected.folded) {
      answer.max_ns = Math.max(answer.max_ns, time);
      add(bucketOf(time), 1, time);
      return;
    }
    answer.max_ns = Math.max(answer.max_ns, ...selected.ownerMax);
    const waits = Math.min(selected.waits, selected.ownerWaits.reduce((sum, count) => sum + count, 0));
    const own = data.folded.histogram[selected.row]!;
    if (hasOwner || own.length === 0) {
      add(bucketOf(Math.floor(time / Math.max(1, waits))), waits, time);
      return;
    }
    const whole = own.reduce((sum, [bucket, count]) => sum + count * bucketRange(bucket).from, 0);
    for (const [bucket, count] of own) add(bucket, count, Math.floor((time * count * bucketRange(bucket).from) / Math.max(1, whole)));
  });

  const buckets = [...sums].sort(([a], [b]) => a - b).map(([bucket, sum]): HistogramBucket => {
    const { from, to } = bucketRange(bucket);
    return { from_ns: from, to_ns: to, waits: sum.waits, duration_ns: sum.duration };
  });
  const percentile = (percent: number) => all.percentile(percent, answer.max_ns);
  return { buckets, ...answer, p50_ns: percentile(50), p90_ns: percentile(90), p99_ns: percentile(99) };
}

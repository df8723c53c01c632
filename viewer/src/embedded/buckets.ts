/** A log-linear histogram: 16 buckets for each power of two, as docs/viewer-api.md has it. */

/** A bucket, and how many waits are in it. */
export type BucketCount = readonly [bucket: number, waits: number];

/** The bucket of a duration. */
export function bucketOf(duration: number): number {
  if (duration < 16) return duration;
  const exponent = duration <= 0xffffffff ? 31 - Math.clz32(duration) : 63 - Math.clz32(Math.floor(duration / 2 ** 32));
  return (exponent - 4) * 16 + Math.floor(duration / 2 ** (exponent - 4));
}

/** From where a bucket reaches to where. */
export function bucketRange(bucket: number): { from: number; to: number } {
  if (bucket < 16) return { from: bucket, to: bucket + 1 };
  const width = 2 ** (Math.floor(bucket / 16) - 1);
  const from = (16 + (bucket % 16)) * width;
  return { from, to: from + width };
}

/** The number of waits in each bucket of durations. */
export class Buckets {
  private readonly counts = new Map<number, number>();
  private total = 0;
  /** The longest wait. */
  max = 0;

  add(duration: number, waits = 1): void {
    this.count(bucketOf(duration), waits);
    this.max = Math.max(this.max, duration);
  }

  /** Adds waits that are known by their bucket only, none above `max`. */
  addBuckets(buckets: readonly BucketCount[], max: number): void {
    for (const [bucket, waits] of buckets) if (waits > 0) this.count(bucket, waits);
    this.max = Math.max(this.max, max);
  }

  private count(bucket: number, waits: number): void {
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + waits);
    this.total += waits;
  }

  /** In the order of their durations. */
  counted(): BucketCount[] {
    return [...this.counts].sort(([a], [b]) => a - b);
  }

  /** The middle of the bucket below which `percent` of the waits are, never above the longest. */
  percentile(percent: number): number {
    const rank = Math.ceil((this.total * percent) / 100);
    let seen = 0;
    for (const [bucket, count] of this.counted()) {
      seen += count;
      if (seen < rank) continue;
      const { from, to } = bucketRange(bucket);
      return Math.min(this.max, Math.floor((from + to) / 2));
    }
    return 0;
  }
}

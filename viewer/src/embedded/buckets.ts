/** A log-linear histogram: 16 buckets for each power of two, as docs/viewer-api.md has it. */

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

/** How many waits have a duration in each bucket. */
export class Buckets {
  private readonly counts = new Map<number, number>();
  private total = 0;

  add(duration: number, waits = 1): void {
    this.addBucket(bucketOf(duration), waits);
  }

  addBucket(bucket: number, waits: number): void {
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + waits);
    this.total += waits;
  }

  /** The middle of the bucket below which `percent` of the waits are, never above `max`. */
  percentile(percent: number, max: number): number {
    const rank = Math.ceil((this.total * percent) / 100);
    let seen = 0;
    for (const bucket of [...this.counts.keys()].sort((a, b) => a - b)) {
      seen += this.counts.get(bucket)!;
      if (seen < rank) continue;
      const { from, to } = bucketRange(bucket);
      return Math.min(max, Math.floor((from + to) / 2));
    }
    return 0;
  }
}

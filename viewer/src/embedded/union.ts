/** The time that is in at least one of many intervals. */
export class Union {
  private readonly intervals: [number, number][] = [];

  add(from: number, to: number): void {
    const last = this.intervals[this.intervals.length - 1];
    // Waits come in the order of their start, so most overlap the last one.
    if (last !== undefined && from >= last[0] && from <= last[1]) last[1] = Math.max(last[1], to);
    else if (to > from) this.intervals.push([from, to]);
  }

  private merged(): [number, number][] {
    const merged: [number, number][] = [];
    for (const [from, to] of [...this.intervals].sort((a, b) => a[0] - b[0])) {
      const last = merged[merged.length - 1];
      if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
      else merged.push([from, to]);
    }
    return merged;
  }

  /** The time between each two edges. */
  series(edges: number[]): number[] {
    const series = new Array<number>(edges.length - 1).fill(0);
    let bucket = 0;
    for (const [from, to] of this.merged()) {
      while (bucket < series.length && edges[bucket + 1]! <= from) bucket++;
      for (let at = bucket; at < series.length && edges[at]! < to; at++) {
        series[at]! += Math.max(0, Math.min(to, edges[at + 1]!) - Math.max(from, edges[at]!));
      }
    }
    return series;
  }
}

// Random numbers that are the same in every run.
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit) {
    return Math.floor(this.next() * limit);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  chance(probability) {
    return this.next() < probability;
  }
}

const ASPECTS = ["mechanism", "kind", "lock-class", "lock", "thread", "method", "caller", "chain", "owner-thread", "owner-method", "owner-caller", "owner-chain", "trace"];
const KINDS = ["contention", "conditional", "idle", "sleep", "join"];

export function randomAspects(random) {
  return [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(ASPECTS)))];
}

/** A selection of what `raw`, an embedded model, has. */
export function randomSelection(random, raw) {
  const { duration_ns } = raw.model;
  const selection = {};
  if (random.chance(0.5)) {
    const [a, b] = [random.below(duration_ns), random.below(duration_ns)];
    Object.assign(selection, { from_ns: Math.min(a, b), to_ns: Math.max(a, b) + 1 });
  }
  if (random.chance(0.5)) selection.kinds = KINDS.filter(() => random.chance(0.7));
  if (selection.kinds?.length === 0) delete selection.kinds;
  if (random.chance(0.2)) selection.min_ns = 2 ** random.below(26);
  if (random.chance(0.2)) selection.max_ns = Math.max(selection.min_ns ?? 0, 2 ** (14 + random.below(16)));
  const filter = Array.from({ length: random.below(3) }, () => {
    const aspect = random.pick(ASPECTS.slice(2, -1));
    const column = raw.waiters[aspect] ?? raw.owners[aspect];
    const keys = Array.from({ length: 1 + random.below(3) }, () => raw.values[random.pick(column)]?.key ?? "nothing");
    return { aspect, in: [...new Set(keys)], ...(random.chance(0.4) ? { not: true } : {}) };
  });
  if (filter.length > 0) selection.filter = filter;
  return selection;
}

import type { Condition, Selection } from "../api/types";
import type { BucketCount } from "./buckets";
import { Data } from "./data";

/** ⌊a · b / c⌋, also where the product is beyond what a number holds exactly. */
export function mulDiv(a: number, b: number, c: number): number {
  const product = a * b;
  return product <= Number.MAX_SAFE_INTEGER ? Math.floor(product / c) : Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** ⌈a · b / c⌉ */
function mulDivUp(a: number, b: number, c: number): number {
  const product = a * b;
  return product <= Number.MAX_SAFE_INTEGER ? Math.ceil(product / c) : Number((BigInt(a) * BigInt(b) + BigInt(c) - 1n) / BigInt(c));
}

/** The selected part of one wait, or of one folded row. */
export interface Selected {
  /** Row in `waits`, or in `folded`. */
  row: number;
  folded: boolean;
  waiter: number;
  /** The part of the wait in the range. */
  from: number;
  to: number;
  /** The number of waits of a folded row. */
  waits: number;
  /** The waits' time in the range, of all owners. */
  pieceNs: number;
  /** Rows in `owners`, in the order of the shares; only those selected that have a part in the range. */
  owners: number[];
  durations: number[];
  contentions: number[];
  /** For a folded row: the number of its waits with each owner, and the longest. */
  ownerWaits: number[];
  ownerMax: number[];
}

type Accept = Uint8Array | null;

/** For each row of a table of waiters or owners, whether the conditions take it; null if all. */
function accepted(data: Data, conditions: Condition[], ofOwner: boolean): Accept {
  const own = conditions.filter((condition) => condition.aspect.startsWith("owner-") === ofOwner);
  if (own.length === 0) return null;
  const rows = Object.values(ofOwner ? data.owners : data.waiters)[0]?.length ?? 0;
  const accept = new Uint8Array(rows).fill(1);
  for (const condition of own) {
    const { values } = data.column(condition.aspect);
    const keys = new Set(condition.in);
    for (let row = 0; row < rows; row++) {
      const isIn = keys.has(data.values[values[row]!]!.key);
      if (isIn === (condition.not ?? false)) accept[row] = 0;
    }
  }
  return accept;
}

export function conditionsOf(selection: Selection): Condition[] {
  const kinds: Condition = { aspect: "kind", in: selection.kinds ?? ["contention"] };
  const traces: Condition[] = selection.traces ? [{ aspect: "trace", in: selection.traces.map(String) }] : [];
  return [kinds, ...traces, ...(selection.filter ?? [])];
}

/** Some owners are not selected. */
export function selectsOwners(selection: Selection): boolean {
  return (selection.filter ?? []).some((condition) => condition.aspect.startsWith("owner-"));
}

/** The first row at which `column` is at least `value`. */
export function lowerBound(column: Float64Array, value: number): number {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function rangeOf(data: Data, selection: Selection): { from: number; to: number } {
  const from = Math.max(0, selection.from_ns ?? 0);
  const to = Math.min(data.model.duration_ns, selection.to_ns ?? data.model.duration_ns);
  return { from, to: Math.max(from, to) };
}

/** Calls `visit` for all that is selected; the object is reused. */
export function forEachSelected(data: Data, selection: Selection, visit: (selected: Selected) => void): void {
  const conditions = conditionsOf(selection);
  const waiters = accepted(data, conditions, false);
  const owners = accepted(data, conditions, true);
  const { from, to } = rangeOf(data, selection);
  const isCut = from > 0 || to < data.model.duration_ns;
  const min = selection.min_ns ?? 0;
  const max = selection.max_ns ?? Infinity;
  const selected: Selected = {
    row: 0, folded: false, waiter: 0, from: 0, to: 0, waits: 1, pieceNs: 0,
    owners: [], durations: [], contentions: [], ownerWaits: [], ownerMax: [],
  };

  const first = isCut ? lowerBound(data.start, from - data.longest) : 0;
  for (let row = first; row < data.start.length; row++) {
    const start = data.start[row]!;
    const duration = data.waits.duration_ns[row]!;
    if (isCut && start >= to) break;
    const end = start + duration;
    if (isCut && end <= from && !(duration === 0 && start >= from)) continue;
    const waiter = data.waits.waiter[row]!;
    if (duration < min || duration >= max || waiters?.[waiter] === 0) continue;
    selected.row = row;
    selected.waiter = waiter;
    selected.from = isCut ? Math.max(start, from) : start;
    selected.to = isCut ? Math.min(end, to) : end;
    selected.pieceNs = selected.to - selected.from;
    selectShares(data, selected, owners, start, duration);
    if (selected.owners.length > 0) visit(selected);
  }

  selected.folded = true;
  for (let row = 0; row < data.folded.waiter.length; row++) {
    const waiter = data.folded.waiter[row]!;
    const duration = data.folded.duration_ns[row]!;
    const mean = duration / data.folded.waits[row]!;
    if (mean < min || mean >= max || waiters?.[waiter] === 0) continue;
    const start = data.folded.from_ns[row]!;
    const end = data.folded.to_ns[row]!;
    selected.from = isCut ? Math.max(start, from) : start;
    selected.to = isCut ? Math.min(end, to) : end;
    if (isCut && selected.to <= selected.from && !(start === end && start >= from && start < to)) continue;
    selected.row = row;
    selected.waiter = waiter;
    selectFoldedShares(data, selected, owners, start, end);
    if (selected.owners.length > 0) visit(selected);
  }
}

/** Fills in the shares of a wait, each with its part of the range. */
function selectShares(data: Data, selected: Selected, accept: Accept, start: number, duration: number): void {
  const begin = data.sharesOf[selected.row]!;
  const end = data.sharesOf[selected.row + 1]!;
  clear(selected);
  selected.waits = 1;
  const isWhole = selected.pieceNs === duration;
  const times = isWhole ? null : timesBetween(data, selected.row, selected.from - start, selected.to - start);
  for (let share = begin; share < end; share++) {
    const owner = data.shares.owner[share]!;
    const time = times === null ? data.shares.duration_ns[share]! : times[share - begin]!;
    if (accept?.[owner] === 0 || (time === 0 && !isWhole)) continue;
    selected.owners.push(owner);
    selected.durations.push(time);
    selected.contentions.push(data.shares.contentions[share]!);
    selected.ownerWaits.push(1);
    selected.ownerMax.push(time);
  }
}

/** Returns the part of each share of a wait between two offsets from the wait's start. */
export function timesBetween(data: Data, row: number, from: number, to: number): number[] {
  const begin = data.sharesOf[row]!;
  const count = data.sharesOf[row + 1]! - begin;
  const times = new Array<number>(count).fill(0);
  if (data.parts !== null) {
    let at = 0;
    for (let part = data.partsOf[row]!; part < data.partsOf[row + 1]! && at < to; part++) {
      const end = at + data.parts.duration_ns[part]!;
      times[data.parts.share[part]!]! += Math.max(0, Math.min(end, to) - Math.max(at, from));
      at = end;
    }
    return times;
  }
  // As if spread evenly; what is rounded down goes to the next, so that they add up.
  const duration = data.waits.duration_ns[row]!;
  let until = 0;
  let before = 0;
  for (let share = 0; share < count; share++) {
    until += data.shares.duration_ns[begin + share]!;
    const after = mulDiv(to - from, until, duration);
    times[share] = after - before;
    before = after;
  }
  return times;
}

/** Fills in the shares of a folded row, scaled by how much of it is in the range. */
function selectFoldedShares(data: Data, selected: Selected, accept: Accept, start: number, end: number): void {
  clear(selected);
  const span = end - start;
  const overlap = selected.to - selected.from;
  const isWhole = overlap === span;
  const scale = (amount: number) => (isWhole ? amount : mulDiv(amount, overlap, span));
  const scaleUp = (amount: number) => (isWhole ? amount : mulDivUp(amount, overlap, span));
  const { row } = selected;
  let ownerWaits = 0;
  // The rounding error goes to the next one, so that they add up.
  let until = 0;
  let before = 0;
  for (let share = data.foldedSharesOf[row]!; share < data.foldedSharesOf[row + 1]!; share++) {
    until += data.foldedShares.duration_ns[share]!;
    const after = scale(until);
    const time = after - before;
    before = after;
    const owner = data.foldedShares.owner[share]!;
    if (accept?.[owner] === 0) continue;
    const waits = scaleUp(data.foldedShares.waits[share]!);
    ownerWaits += waits;
    selected.owners.push(owner);
    selected.durations.push(time);
    selected.contentions.push(scale(data.foldedShares.contentions[share]!));
    selected.ownerWaits.push(waits);
    selected.ownerMax.push(Math.min(time, data.foldedShares.max_ns[share]!));
  }
  selected.pieceNs = before;
  const waits = scaleUp(data.folded.waits[row]!);
  selected.waits = accept === null ? waits : Math.min(waits, ownerWaits);
}

/** The lengths of this number of waits of a folded row: its histogram, in the same proportions. */
export function foldedHistogram(data: Data, row: number, waits: number): BucketCount[] {
  const own = data.folded.histogram[row]!;
  const all = data.folded.waits[row]!;
  if (waits >= all) return own;
  let until = 0;
  let before = 0;
  return own.map(([bucket, count]) => {
    until += count;
    const after = mulDiv(until, waits, all);
    const part = after - before;
    before = after;
    return [bucket, part] as const;
  });
}

function clear(selected: Selected): void {
  selected.owners.length = selected.durations.length = selected.contentions.length = 0;
  selected.ownerWaits.length = selected.ownerMax.length = 0;
}

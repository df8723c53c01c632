import type { Aspect, Group, QueryAnswer, Value } from "../api/types";
import { idOf } from "./nest";

/** Slices of each side: what the rates vary by within a side is what a difference has to exceed. */
export const SLICES = 20;

/** One group on both sides, in blocked nanoseconds for each unit (second, or unit of work). */
export interface Compared {
  id: string;
  path: string[];
  value: Value | null;
  aspect: Aspect | null;
  before: number;
  after: number;
  /** Twice the standard error of the difference, from how both sides vary among their slices. */
  spread: number;
  isClear: boolean;
  children: Compared[];
}

/** Returns the divisor of a side's durations: seconds, or units of work. */
export function unitsOf(answer: QueryAnswer, work: number | null): number {
  return work ?? Math.max(1e-9, answer.time_ns / 1e9);
}

/** The square of the standard error of a side's rate. */
function varianceOfMean(group: Group | undefined, units: number): number {
  const series = group?.series ?? [];
  if (series.length < 2) return 0;
  const rates = series.map((ns) => (ns * series.length) / units);
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  return rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / (rates.length - 1) / rates.length;
}

function keyed(answer: QueryAnswer): Map<string, { group: Group; path: string[]; value: Value | null }> {
  return new Map(answer.groups.map((group) => {
    const path = group.path.map((at) => answer.values[at]!.key);
    const last = group.path[group.path.length - 1];
    return [idOf(path), { group, path, value: last === undefined ? null : answer.values[last]! }];
  }));
}

/** Lays two answers over each other, matched by keys; the largest difference first. */
export function compare(before: QueryAnswer, after: QueryAnswer, by: Aspect[], work: [number, number] | null): Compared {
  const [a, b] = [keyed(before), keyed(after)];
  const units = [unitsOf(before, work?.[0] ?? null), unitsOf(after, work?.[1] ?? null)] as const;
  const nodes = new Map<string, Compared>();
  const ids = [...new Set([...a.keys(), ...b.keys()])].sort((x, y) => (a.get(x) ?? b.get(x))!.path.length - (a.get(y) ?? b.get(y))!.path.length);
  for (const id of ids) {
    const { path, value } = (b.get(id) ?? a.get(id))!;
    const rates = { before: (a.get(id)?.group.duration_ns ?? 0) / units[0], after: (b.get(id)?.group.duration_ns ?? 0) / units[1] };
    const spread = 2 * Math.sqrt(varianceOfMean(a.get(id)?.group, units[0]) + varianceOfMean(b.get(id)?.group, units[1]));
    const node: Compared = {
      id, path, value, aspect: by[path.length - 1] ?? null, ...rates, spread, isClear: Math.abs(rates.after - rates.before) > spread, children: [],
    };
    nodes.set(id, node);
    if (path.length > 0) nodes.get(idOf(path.slice(0, -1)))?.children.push(node);
  }
  for (const node of nodes.values()) node.children.sort((x, y) => Math.abs(y.after - y.before) - Math.abs(x.after - x.before) || (x.id < y.id ? -1 : 1));
  return nodes.get("[]")!;
}

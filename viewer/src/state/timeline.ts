import type { Lane, LanesAnswer, Selection } from "../api/types";
import type { Range } from "./address";

/** The range seen: what is selected, or all of the time. */
export function rangeSeen(selection: Selection, total: number): Range {
  return { from_ns: selection.from_ns ?? 0, to_ns: selection.to_ns ?? total };
}

/** Zooms about a point, by a factor of the range's length. */
export function zoomed(range: Range, about: number, factor: number, total: number): Range {
  const length = Math.max(100, Math.min(total, (range.to_ns - range.from_ns) * factor));
  const part = (about - range.from_ns) / Math.max(1, range.to_ns - range.from_ns);
  const from = Math.max(0, Math.min(total - length, about - part * length));
  return { from_ns: from, to_ns: from + length };
}

/** Moves the range by a part of its length. */
export function moved(range: Range, part: number, total: number): Range {
  const length = range.to_ns - range.from_ns;
  const from = Math.max(0, Math.min(total - length, range.from_ns + part * length));
  return { from_ns: from, to_ns: from + length };
}

/** A wait drawn in a lane, on a line of its own while others overlap it. */
export interface Placed {
  id: number;
  from_ns: number;
  to_ns: number;
  line: number;
}

/** Stacks overlapping waits by their start. */
export function stacked(lane: Lane): { placed: Placed[]; lines: number } {
  const free: number[] = [];
  const placed = [...lane.waits_at].sort((a, b) => a.from_ns - b.from_ns).map(({ id, from_ns, to_ns }) => {
    let line = free.findIndex((until) => until <= from_ns);
    if (line < 0) line = free.length;
    free[line] = to_ns;
    return { id, from_ns, to_ns, line };
  });
  return { placed, lines: free.length };
}

/** The wait of a lane at a time, the shortest if there are several. */
export function waitAt(lane: Lane, ns: number, tolerance: number): number | null {
  const found = lane.waits_at.filter((wait) => wait.from_ns - tolerance <= ns && ns <= wait.to_ns + tolerance);
  found.sort((a, b) => a.to_ns - a.from_ns - (b.to_ns - b.from_ns));
  return found[0]?.id ?? null;
}

/** The time each owner had in a lane, the most first. */
export function ownersOf(answer: LanesAnswer, lane: Lane): { owner: number; ns: number }[] {
  const sums = new Map<number, number>();
  const add = (owner: number, ns: number) => sums.set(owner, (sums.get(owner) ?? 0) + ns);
  if (lane.mode === "segments") lane.segments.forEach((segment) => add(segment.owner, segment.to_ns - segment.from_ns));
  else lane.bins.forEach((bin) => {
    for (let at = 0; at < bin.length; at += 2) add(bin[at]!, bin[at + 1]!);
  });
  return [...sums].map(([owner, ns]) => ({ owner, ns })).sort((a, b) => b.ns - a.ns || (answer.values[a.owner]!.key < answer.values[b.owner]!.key ? -1 : 1));
}

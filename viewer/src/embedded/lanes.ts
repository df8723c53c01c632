import type { Lane, LanesAnswer, LanesRequest, LaneSegment, LaneWait } from "../api/types";
import type { Data } from "./data";
import { NamesUsed } from "./names";
import { forEachSelected, rangeOf, timesBetween, type Selected } from "./selected";

const OWNERS_IN_BIN = 6;

interface Sum {
  value: number;
  duration: number;
  waits: number;
  pieces: Piece[];
  segments: number;
  hasFolded: boolean;
}

/** What is selected of one wait. */
interface Piece {
  row: number;
  folded: boolean;
  from: number;
  to: number;
  owners: number[];
  durations: number[];
}

/** A timeline, by lock or by thread. */
export function lanes(data: Data, request: LanesRequest): LanesAnswer {
  const column = data.column(request.by).values;
  const range = rangeOf(data, request.selection);
  const sums = new Map<number, Sum>();
  forEachSelected(data, request.selection, (selected) => {
    const value = column[selected.waiter]!;
    let sum = sums.get(value);
    if (sum === undefined) sums.set(value, (sum = { value, duration: 0, waits: 0, pieces: [], segments: 0, hasFolded: false }));
    add(sum, data, selected);
  });

  const all = [...sums.values()].sort((a, b) => b.duration - a.duration);
  const limit = Math.max(1, Math.min(200, request.limit));
  const px = Math.max(1, Math.min(4_096, request.px));
  const names = new NamesUsed(data);
  const rest = all.slice(limit);
  return {
    range: { from_ns: range.from, to_ns: range.to },
    exact: data.model.exact,
    lanes: all.slice(0, limit).map((sum) => lane(data, names, sum, request, px, range)),
    omitted: { lanes: rest.length, duration_ns: rest.reduce((total, sum) => total + sum.duration, 0) },
    ...names.names,
  };
}

function add(sum: Sum, data: Data, selected: Selected): void {
  sum.duration += selected.durations.reduce((total, time) => total + time, 0);
  sum.waits += selected.waits;
  sum.hasFolded ||= selected.folded;
  if (!selected.folded && data.parts !== null) sum.segments += data.parts.count[selected.row]!;
  sum.pieces.push({
    row: selected.row, folded: selected.folded, from: selected.from, to: selected.to,
    owners: [...selected.owners], durations: [...selected.durations],
  });
}

function lane(data: Data, names: NamesUsed, sum: Sum, request: LanesRequest, px: number, range: { from: number; to: number }): Lane {
  const head = { value: names.value(sum.value), duration_ns: sum.duration, waits: sum.waits };
  const isExact = data.parts !== null && !sum.hasFolded;
  if (isExact && sum.waits <= 2 * px && sum.segments <= 64 * px) {
    const segments = request.by === "thread" ? ofThread(data, names, sum) : ofLock(data, names, sum);
    if (segments.length <= 2 * px) return { ...head, mode: "segments", segments, waits_at: waitsAt(data, names, sum) };
  }
  return { ...head, mode: "bins", ...bins(data, names, sum, px, range) };
}

function waitsAt(data: Data, names: NamesUsed, sum: Sum): LaneWait[] {
  return sum.pieces.map(({ row, from, to }) => {
    const waiter = data.waits.waiter[row]!;
    return {
      id: data.waits.id[row]!, from_ns: from, to_ns: to,
      thread: names.value(data.waiters["thread"]![waiter]!), lock: names.value(data.waiters["lock"]![waiter]!),
    };
  });
}

/** The selected parts of a wait, in order. */
function* partsOf(data: Data, piece: Piece): Generator<{ from: number; to: number; owner: number }> {
  const parts = data.parts!;
  const selected = new Set(piece.owners);
  let at = data.start[piece.row]!;
  for (let part = data.partsOf[piece.row]!; part < data.partsOf[piece.row + 1]!; part++) {
    const from = Math.max(piece.from, at);
    at += parts.duration_ns[part]!;
    const to = Math.min(piece.to, at);
    const owner = data.shares.owner[data.sharesOf[piece.row]! + parts.share[part]!]!;
    if (to > from && selected.has(owner)) yield { from, to, owner };
  }
}

function ofThread(data: Data, names: NamesUsed, sum: Sum): LaneSegment[] {
  const segments: LaneSegment[] = [];
  for (const piece of sum.pieces) {
    for (const { from, to, owner } of partsOf(data, piece)) push(segments, data, names, from, to, owner, piece.row);
  }
  return segments;
}

/** Who had the lock: the waits of one lock agree about that, so the first that tells will do. */
function ofLock(data: Data, names: NamesUsed, sum: Sum): LaneSegment[] {
  const segments: LaneSegment[] = [];
  let until = -1;
  for (const piece of sum.pieces) {
    for (const { from, to, owner } of partsOf(data, piece)) {
      const begin = Math.max(from, until);
      if (to <= begin) continue;
      push(segments, data, names, begin, to, owner, piece.row);
      until = to;
    }
  }
  return segments;
}

function push(segments: LaneSegment[], data: Data, names: NamesUsed, from: number, to: number, owner: number, row: number): void {
  const value = names.value(data.owners["owner-thread"]![owner]!);
  const wait = data.waits.id[row]!;
  const last = segments[segments.length - 1];
  if (last !== undefined && last.to_ns === from && last.owner === value && last.wait === wait) last.to_ns = to;
  else segments.push({ from_ns: from, to_ns: to, owner: value, wait });
}

/** For each pixel, the blocked time that each owner caused. */
function bins(data: Data, names: NamesUsed, sum: Sum, px: number, range: { from: number; to: number }): { bins: number[][]; waiting_ns: number[] } {
  const ofPixel = Array.from({ length: px }, () => new Map<number, number>());
  const edge = (pixel: number) => range.from + Math.floor((pixel * (range.to - range.from)) / px);
  const ownerThread = data.owners["owner-thread"]!;
  for (const piece of sum.pieces) {
    const span = piece.to - piece.from;
    const owners = piece.folded ? [] : data.shares.owner.slice(data.sharesOf[piece.row]!, data.sharesOf[piece.row + 1]!);
    const first = Math.max(0, Math.floor(((piece.from - range.from) * px) / Math.max(1, range.to - range.from)) - 1);
    for (let pixel = first; pixel < px && edge(pixel) < piece.to; pixel++) {
      const from = Math.max(piece.from, edge(pixel));
      const to = Math.min(piece.to, edge(pixel + 1));
      if (to <= from) continue;
      const times = piece.folded
        ? piece.durations.map((duration) => Math.floor((duration * (to - from)) / span))
        : timesBetween(data, piece.row, from - data.start[piece.row]!, to - data.start[piece.row]!);
      times.forEach((time, at) => {
        const owner = piece.folded ? piece.owners[at]! : owners[at]!;
        if (time === 0 || !piece.owners.includes(owner)) return;
        const thread = ownerThread[owner]!;
        ofPixel[pixel]!.set(thread, (ofPixel[pixel]!.get(thread) ?? 0) + time);
      });
    }
  }
  const largest = ofPixel.map((owners) => [...owners].sort((a, b) => b[1] - a[1]));
  return {
    bins: largest.map((owners) => owners.slice(0, OWNERS_IN_BIN).flatMap(([owner, time]) => [names.value(owner), time])),
    waiting_ns: largest.map((owners) => owners.reduce((total, [, time]) => total + time, 0)),
  };
}

import type { Lane, LanesAnswer, LanesRequest, LaneSegment, LaneWait } from "../api/types";
import type { Data } from "./data";
import { NamesUsed } from "./names";
import { forEachSelected, rangeOf, type Selected } from "./selected";
import { edgesOf, Series, type Range } from "./spread";

const OWNERS_IN_LANE = 16;
const OWNERS_IN_PIXEL = 6;
const SEGMENTS_PER_PIXEL = 2;

/** The selected part of one wait, or of a folded row. */
interface Piece extends Range {
  row: number;
  folded: boolean;
  owners: number[];
  durations: number[];
}

interface Sum {
  value: number;
  duration: number;
  waits: number;
  pieces: Piece[];
  owners: Map<number, number>;
}

/** A stretch of time of one owner, a value of `owner-thread`. */
interface Stretch extends Range {
  owner: number;
  row: number;
}

/** A timeline, by lock or by thread. */
export function lanes(data: Data, request: LanesRequest): LanesAnswer {
  const column = data.column(request.by).values;
  const ownerThread = data.owners["owner-thread"]!;
  const range = rangeOf(data, request.selection);
  const sums = new Map<number, Sum>();
  forEachSelected(data, request.selection, (selected) => {
    const value = column[selected.waiter]!;
    let sum = sums.get(value);
    if (sum === undefined) sums.set(value, (sum = { value, duration: 0, waits: 0, pieces: [], owners: new Map() }));
    add(sum, selected, ownerThread);
  });

  const all = [...sums.values()].sort((a, b) => b.duration - a.duration || a.value - b.value);
  const names = new NamesUsed(data);
  const rest = all.slice(request.limit);
  return {
    range: { from_ns: range.from, to_ns: range.to },
    exact: data.model.exact,
    lanes: all.slice(0, request.limit).map((sum) => lane(data, names, sum, request, range)),
    omitted: { lanes: rest.length, duration_ns: rest.reduce((total, sum) => total + sum.duration, 0) },
    ...names.names,
  };
}

function add(sum: Sum, selected: Selected, ownerThread: number[]): void {
  sum.waits += selected.waits;
  selected.owners.forEach((owner, at) => {
    const thread = ownerThread[owner]!;
    sum.duration += selected.durations[at]!;
    sum.owners.set(thread, (sum.owners.get(thread) ?? 0) + selected.durations[at]!);
  });
  sum.pieces.push({
    row: selected.row, folded: selected.folded, from: selected.from, to: selected.to,
    owners: [...selected.owners], durations: [...selected.durations],
  });
}

function lane(data: Data, names: NamesUsed, sum: Sum, request: LanesRequest, range: Range): Lane {
  const most = SEGMENTS_PER_PIXEL * request.px;
  const hasManyWaits = sum.waits > most;
  const head = {
    value: names.value(sum.value), duration_ns: sum.duration, waits: sum.waits,
    waits_at: hasManyWaits ? [] : waitsAt(data, names, sum),
  };
  const stretches = [...stretchesOf(data, sum, request.by === "lock")];
  if (!hasManyWaits && data.model.exact && stretches.length <= most) {
    const segments = stretches.map(({ from, to, owner, row }): LaneSegment => (
      { from_ns: from, to_ns: to, owner: names.value(owner), wait: data.waits.id[row]! }
    ));
    return { ...head, mode: "segments", segments };
  }
  return { ...head, mode: "bins", ...bins(data, names, sum, stretches, request.px, range) };
}

function waitsAt(data: Data, names: NamesUsed, sum: Sum): LaneWait[] {
  return sum.pieces.filter((piece) => !piece.folded).map(({ row, from, to }) => {
    const waiter = data.waits.waiter[row]!;
    return {
      id: data.waits.id[row]!, from_ns: from, to_ns: to,
      thread: names.value(data.waiters["thread"]![waiter]!), lock: names.value(data.waiters["lock"]![waiter]!),
    };
  });
}

/**
 * The selected parts of the waits whose parts are known. Those who wait for one lock at the same time
 * wait for the same owner: there, each time counts once.
 */
function* stretchesOf(data: Data, sum: Sum, once: boolean): Generator<Stretch> {
  const { parts } = data;
  if (parts === null) return;
  let covered = 0;
  for (const piece of sum.pieces) {
    if (piece.folded) continue;
    const selected = new Set(piece.owners);
    let at = data.start[piece.row]!;
    for (let part = data.partsOf[piece.row]!; part < data.partsOf[piece.row + 1]!; part++) {
      const begin = Math.max(piece.from, at);
      at += parts.duration_ns[part]!;
      const from = once ? Math.max(begin, covered) : begin;
      const to = Math.min(piece.to, at);
      const owner = data.shares.owner[data.sharesOf[piece.row]! + parts.share[part]!]!;
      if (from >= to || !selected.has(owner)) continue;
      covered = Math.max(covered, to);
      yield { from, to, owner: data.owners["owner-thread"]![owner]!, row: piece.row };
    }
  }
}

/** For each pixel, the time that each owner had. */
function bins(data: Data, names: NamesUsed, sum: Sum, stretches: Stretch[], px: number, range: Range): { bins: number[][]; waiting_ns: number[] } {
  const edges = range.from < range.to ? edgesOf(range, px) : [];
  const largest = [...sum.owners].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, OWNERS_IN_LANE);
  const shown = new Set(largest.map(([owner]) => owner));
  const others = othersOf(data);
  const series = new Map<number, Series>();
  const addTo = (owner: number, stretch: Range, duration: number) => {
    const own = shown.has(owner) ? owner : others;
    if (!series.has(own)) series.set(own, new Series(edges));
    series.get(own)!.add(stretch, duration);
  };
  for (const stretch of stretches) addTo(stretch.owner, stretch, stretch.to - stretch.from);
  const waiting = new Series(edges);
  for (const piece of sum.pieces) {
    waiting.add(piece, piece.durations.reduce((total, time) => total + time, 0));
    if (data.parts !== null && !piece.folded) continue;
    piece.owners.forEach((owner, at) => addTo(data.owners["owner-thread"]![owner]!, piece, piece.durations[at]!));
  }

  const owners = [...series].sort(([a], [b]) => a - b).map(([owner, own]) => [owner, own.finish()] as const);
  const waited = waiting.finish();
  const pixels = waited.map((_, pixel) => {
    const times = owners.map(([owner, own]) => [owner, own[pixel]!] as const).filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
    const rest = times.slice(OWNERS_IN_PIXEL).reduce((total, [, time]) => total + time, 0);
    const kept = times.slice(0, OWNERS_IN_PIXEL);
    return [...kept, ...(rest > 0 ? [[others, rest] as const] : [])].flatMap(([owner, time]) => [names.value(owner), time]);
  });
  return { bins: pixels, waiting_ns: waited };
}

/** The placeholder of owners that are not distinguished. */
function othersOf(data: Data): number {
  const known = data.values.findIndex((value) => value.aspect === "owner-thread" && value.key === "<folded>");
  if (known >= 0) return known;
  return data.values.push({ aspect: "owner-thread", key: "<folded>", label: "<others>" }) - 1;
}

import type { Kind, OtherWait, Share, Wait, WaitAnswer, WaitsAnswer, WaitsRequest } from "../api/types";
import type { Data } from "./data";
import { NamesUsed } from "./names";
import { forEachSelected, lowerBound } from "./selected";

const SHARES_IN_LIST = 8;
const SHARES_OF_WAIT = 1_000;
const MAX_LIMIT = 1_000;
const MAX_PARTS = 10_000;
const MEANWHILE = 50;

/** Single waits of a selection. */
export function waits(data: Data, request: WaitsRequest): WaitsAnswer {
  const found: { row: number; selected: number }[] = [];
  let folded = 0;
  forEachSelected(data, request.selection, (selected) => {
    if (selected.folded) folded += selected.waits;
    else found.push({ row: selected.row, selected: selected.durations.reduce((sum, time) => sum + time, 0) });
  });
  // Rows are in the order of their start already.
  if (request.sort === "duration") found.sort((a, b) => b.selected - a.selected || a.row - b.row);
  const limit = Math.max(1, Math.min(MAX_LIMIT, request.limit));
  const first = request.cursor === null ? 0 : Number(request.cursor);
  const names = new NamesUsed(data);
  return {
    waits: found.slice(first, first + limit).map(({ row, selected }) => describe(data, names, row, selected, SHARES_IN_LIST)),
    cursor: first + limit < found.length ? String(first + limit) : null,
    total: found.length,
    folded,
    ...names.names,
  };
}

/** The positions of a wait's shares, the largest first. */
function largestShares(data: Data, row: number): number[] {
  const begin = data.sharesOf[row]!;
  const positions = Array.from({ length: data.sharesOf[row + 1]! - begin }, (_, at) => at);
  const duration = (at: number) => data.shares.duration_ns[begin + at]!;
  return positions.sort((a, b) => duration(b) - duration(a) || a - b);
}

function describe(data: Data, names: NamesUsed, row: number, selected: number, most: number): Wait {
  const waiter = data.waits.waiter[row]!;
  const valueOf = (aspect: string) => data.waiters[aspect]![waiter]!;
  const begin = data.sharesOf[row]!;
  const positions = largestShares(data, row);
  const rest = positions.slice(most);
  const flags = data.waits.flags[row]!;
  return {
    id: data.waits.id[row]!,
    trace: Number(data.values[valueOf("trace")]!.key),
    start_ns: data.start[row]!,
    duration_ns: data.waits.duration_ns[row]!,
    safepoint_ns: data.waits.safepoint_ns[row]!,
    selected_ns: selected,
    mechanism: data.values[valueOf("mechanism")]!.key,
    kind: data.values[valueOf("kind")]!.key as Kind,
    ended: (flags & 1) !== 0,
    after_wait: (flags & 2) !== 0,
    lock: names.value(valueOf("lock")),
    thread: names.value(valueOf("thread")),
    chain: names.value(valueOf("chain")),
    method: names.value(valueOf("method")),
    shares: positions.slice(0, most).map((at) => share(data, names, begin + at)),
    more_shares: { count: rest.length, duration_ns: rest.reduce((sum, at) => sum + data.shares.duration_ns[begin + at]!, 0) },
  };
}

function share(data: Data, names: NamesUsed, row: number): Share {
  const owner = data.shares.owner[row]!;
  return {
    thread: names.value(data.owners["owner-thread"]![owner]!),
    method: names.value(data.owners["owner-method"]![owner]!),
    chain: names.value(data.owners["owner-chain"]![owner]!),
    duration_ns: data.shares.duration_ns[row]!,
    contentions: data.shares.contentions[row]!,
  };
}

/** One wait, and what else happened then. */
export function wait(data: Data, id: number): WaitAnswer {
  const row = data.row(id);
  if (row === undefined) throw new Error(`no wait ${id}`);
  const names = new NamesUsed(data);
  const described = describe(data, names, row, data.waits.duration_ns[row]!, SHARES_OF_WAIT);
  const others = overlapping(data, row).sort((a, b) => b.overlap - a.overlap || data.waits.id[a.row]! - data.waits.id[b.row]!);
  const begin = data.sharesOf[row]!;
  const ownerThreads = new Set(
    largestShares(data, row).map((at) => data.values[data.owners["owner-thread"]![data.shares.owner[begin + at]!]!]!.key),
  );
  const threadOf = (other: number) => data.waiters["thread"]![data.waits.waiter[other]!]!;
  const other = ({ row, overlap }: { row: number; overlap: number }): OtherWait => ({
    id: data.waits.id[row]!,
    thread: names.value(threadOf(row)),
    lock: names.value(data.waiters["lock"]![data.waits.waiter[row]!]!),
    start_ns: data.start[row]!,
    duration_ns: data.waits.duration_ns[row]!,
    overlap_ns: overlap,
  });
  const ofOwners = others.filter(({ row }) => ownerThreads.has(data.values[threadOf(row)]!.key));
  return {
    wait: described,
    parts: partsOf(data, row),
    meanwhile: others.slice(0, MEANWHILE).map(other),
    owner_waits: ofOwners.slice(0, MEANWHILE).map(other),
    ...names.names,
  };
}

function partsOf(data: Data, row: number): WaitAnswer["parts"] {
  if (data.parts === null) return null;
  // Shares are answered the largest first.
  const position = new Map(largestShares(data, row).map((at, position) => [at, position]));
  const parts: NonNullable<WaitAnswer["parts"]> = [];
  let start = data.start[row]!;
  for (let part = data.partsOf[row]!; part < data.partsOf[row + 1]! && parts.length < MAX_PARTS; part++) {
    const duration = data.parts.duration_ns[part]!;
    parts.push({ start_ns: start, duration_ns: duration, share: position.get(data.parts.share[part]!)! });
    start += duration;
  }
  return parts;
}

function overlapping(data: Data, row: number): { row: number; overlap: number }[] {
  const start = data.start[row]!;
  const end = start + data.waits.duration_ns[row]!;
  const found: { row: number; overlap: number }[] = [];
  for (let other = lowerBound(data.start, start - data.longest); other < data.start.length && data.start[other]! < end; other++) {
    const overlap = Math.min(end, data.start[other]! + data.waits.duration_ns[other]!) - Math.max(start, data.start[other]!);
    if (other !== row && overlap > 0) found.push({ row: other, overlap });
  }
  return found;
}

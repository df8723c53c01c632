import type { Group, QueryAnswer, QueryRequest } from "../api/types";
import { Buckets } from "./buckets";
import type { Data } from "./data";
import { NamesUsed } from "./names";
import { foldedHistogram, forEachSelected, mulDiv, rangeOf, selectsOwners, timesBetween, type Selected } from "./selected";
import { edgesOf, Series, type Range } from "./spread";
import { Union } from "./union";

const DEFAULT_LIMIT = 2_000;
const MAX_LIMIT = 50_000;

/** A group while it is summed up. */
interface Sum {
  parent: Sum | null;
  value: number;
  depth: number;
  children: Map<number, Sum>;
  duration: number;
  waits: number;
  contentions: number;
  max: number;
  /** Time in which somebody waited: waits come in the order of their start. */
  wall: number;
  wallUntil: number;
  /** All time of the waits that the group has a part of. */
  waited: number;
  histogram: Buckets;
  threads: Set<number>;
  series: Series | null;
  /** The group's share of the current wait. */
  visit: number;
  time: number;
  waitsOfVisit: number;
  maxOfVisit: number;
  at: number;
}

function newSum(parent: Sum | null, value: number, edges: number[]): Sum {
  return {
    parent, value, depth: parent === null ? 0 : parent.depth + 1, children: new Map(),
    duration: 0, waits: 0, contentions: 0, max: 0, wall: 0, wallUntil: 0, waited: 0, histogram: new Buckets(), threads: new Set(),
    series: edges.length > 1 ? new Series(edges) : null,
    visit: -1, time: 0, waitsOfVisit: 0, maxOfVisit: 0, at: -1,
  };
}

/** Sums over the selection, by time. */
interface Overall {
  /** The times when anybody waited. */
  union: Union;
  /** The same of folded rows, of which only sums are known. */
  folded: Series;
  safepoints: Series;
}

/** Groups of a selection by aspects. */
export function query(data: Data, request: QueryRequest): QueryAnswer {
  const { selection, by } = request;
  const buckets = Math.min(2_048, request.buckets ?? 0);
  const columns = by.map((aspect) => data.column(aspect));
  // Up to this depth groups have all of a wait, or nothing.
  const firstOwner = columns.findIndex((column) => column.ofOwner);
  const common = selectsOwners(selection) ? -1 : firstOwner < 0 ? columns.length : firstOwner;
  const range = rangeOf(data, selection);
  const edges = buckets > 0 && range.from < range.to ? edgesOf(range, buckets) : [];
  const root = newSum(null, -1, edges);
  const overall: Overall = { union: new Union(), folded: new Series(edges), safepoints: new Series(edges) };
  const threadColumn = data.column("thread").values;

  let visit = 0;
  const touched: Sum[] = [];
  forEachSelected(data, selection, (selected) => {
    visit++;
    touched.length = 0;
    const thread = threadColumn[selected.waiter]!;
    const exact = edges.length > 1 && !selected.folded && data.parts !== null ? seriesOf(data, selected, edges) : null;
    for (let at = 0; at < selected.owners.length; at++) {
      let sum = root;
      for (let depth = 0; ; depth++) {
        addShare(sum, selected, at, visit, touched, exact);
        if (depth === columns.length) break;
        const column = columns[depth]!;
        const value = column.values[column.ofOwner ? selected.owners[at]! : selected.waiter]!;
        let child = sum.children.get(value);
        if (child === undefined) sum.children.set(value, (child = newSum(sum, value, edges)));
        sum = child;
      }
    }
    addOverall(overall, data, selected);
    for (const sum of touched) {
      sum.threads.add(thread);
      addWait(sum, data, selected, sum.depth <= common);
      addWall(sum, selected);
      if (exact === null) sum.series?.add(selected, sum.time);
    }
  });

  return answer(data, request, root, overall, edges, range);
}

function addShare(sum: Sum, selected: Selected, at: number, visit: number, touched: Sum[], series: Float64Array[] | null): void {
  const time = selected.durations[at]!;
  if (sum.visit !== visit) {
    sum.visit = visit;
    sum.time = sum.waitsOfVisit = sum.maxOfVisit = 0;
    touched.push(sum);
  }
  sum.time += time;
  sum.waitsOfVisit += selected.ownerWaits[at]!;
  sum.maxOfVisit = Math.max(sum.maxOfVisit, selected.ownerMax[at]!);
  sum.duration += time;
  sum.contentions += selected.contentions[at]!;
  if (series !== null && sum.series !== null) {
    const own = series[at]!;
    for (let bucket = 0; bucket < own.length; bucket++) if (own[bucket] !== 0) sum.series.addTo(bucket, own[bucket]!);
  }
}

/** `isCommon`: the group has all of the waits. */
function addWait(sum: Sum, data: Data, selected: Selected, isCommon: boolean): void {
  if (!selected.folded) {
    sum.waits++;
    sum.histogram.add(sum.time);
  } else if (isCommon) {
    sum.waits += selected.waits;
    sum.histogram.addBuckets(foldedHistogram(data, selected.row, selected.waits), Math.min(data.folded.max_ns[selected.row]!, sum.time));
  } else {
    const waits = Math.min(selected.waits, sum.waitsOfVisit);
    sum.waits += waits;
    sum.max = Math.max(sum.max, sum.maxOfVisit);
    sum.histogram.add(Math.floor(sum.time / Math.max(1, waits)), waits);
  }
}

function addWall(sum: Sum, selected: Selected): void {
  sum.waited += selected.pieceNs;
  if (selected.folded) {
    sum.wall += Math.min(selected.to - selected.from, selected.pieceNs);
    return;
  }
  sum.wall += Math.max(0, selected.to - Math.max(selected.from, sum.wallUntil));
  sum.wallUntil = Math.max(sum.wallUntil, selected.to);
}

function addOverall({ union, folded, safepoints }: Overall, data: Data, selected: Selected): void {
  if (selected.folded) {
    const time = selected.durations.reduce((sum, duration) => sum + duration, 0);
    folded.add(selected, Math.min(time, selected.to - selected.from));
    return;
  }
  union.add(selected.from, selected.to);
  // The trace does not say when safepoints were: their time is spread evenly over a wait.
  const safepoint = data.waits.safepoint_ns[selected.row]!;
  if (safepoint > 0) safepoints.add(selected, mulDiv(safepoint, selected.pieceNs, data.waits.duration_ns[selected.row]!));
}

/** For each selected share of a wait whose parts are known, its time in each bucket. */
function seriesOf(data: Data, selected: Selected, edges: number[]): Float64Array[] {
  const buckets = edges.length - 1;
  const series = selected.owners.map(() => new Float64Array(buckets));
  const begin = edges[0]!;
  const width = (edges[buckets]! - begin) / buckets;
  const first = width > 0 ? Math.max(0, Math.floor((selected.from - begin) / width) - 1) : 0;
  const start = data.start[selected.row]!;
  const owners = data.shares.owner.slice(data.sharesOf[selected.row]!, data.sharesOf[selected.row + 1]!);
  for (let bucket = first; bucket < buckets && edges[bucket]! < selected.to; bucket++) {
    const from = Math.max(selected.from, edges[bucket]!);
    const to = Math.min(selected.to, edges[bucket + 1]!);
    if (to <= from) continue;
    const times = timesBetween(data, selected.row, from - start, to - start);
    let at = 0;
    for (let share = 0; share < times.length; share++) {
      // Selected shares are in the order of the wait's.
      if (at < selected.owners.length && owners[share] === selected.owners[at]) series[at++]![bucket] = times[share]!;
    }
  }
  return series;
}

function answer(data: Data, request: QueryRequest, root: Sum, overall: Overall, edges: number[], range: Range): QueryAnswer {
  const limit = Math.max(1, Math.min(MAX_LIMIT, request.limit ?? DEFAULT_LIMIT));
  const names = new NamesUsed(data);
  const groups: Group[] = [];
  const omitted: QueryAnswer["omitted"] = [];
  const total = group(root, [], range);
  if (edges.length > 1) {
    const folded = overall.folded.finish();
    total.wall_series = overall.union.series(edges).map((time, bucket) => time + folded[bucket]!);
    total.safepoint_series = overall.safepoints.finish();
  }
  groups.push(total);

  let level = [root];
  for (let depth = 1; depth <= request.by.length; depth++) {
    const all = level.flatMap((sum) => [...sum.children.values()]).sort((a, b) => b.duration - a.duration);
    const kept = all.slice(0, limit);
    omitted.push({ groups: all.length - kept.length, duration_ns: all.slice(limit).reduce((sum, one) => sum + one.duration, 0) });
    for (const sum of kept) groups.push(group(sum, pathOf(sum, names), range));
    level = kept;
  }
  return {
    progress: data.model.progress,
    range: { from_ns: range.from, to_ns: range.to },
    time_ns: tracedTime(data, request, range),
    exact: data.model.exact,
    rounded: root.duration > Number.MAX_SAFE_INTEGER,
    groups, omitted, ...names.names,
  };
}

function pathOf(sum: Sum, names: NamesUsed): number[] {
  const path: number[] = [];
  for (let at: Sum | null = sum; at !== null && at.parent !== null; at = at.parent) path.unshift(names.value(at.value));
  return path;
}

function group(sum: Sum, path: number[], range: Range): Group {
  const wall = Math.min(sum.wall, range.to - range.from);
  return {
    path,
    duration_ns: sum.duration,
    waits: sum.waits,
    contentions: sum.contentions,
    max_ns: Math.max(sum.max, sum.histogram.max),
    p50_ns: sum.histogram.percentile(50),
    p99_ns: sum.histogram.percentile(99),
    threads: sum.threads.size,
    wall_ns: sum.duration < sum.waited ? Math.round(wall * (sum.duration / sum.waited)) : wall,
    children: sum.children.size,
    ...(sum.series === null ? {} : { series: sum.series.finish() }),
  };
}

/** Returns how long the selected traces ran in the range. */
function tracedTime(data: Data, request: QueryRequest, range: Range): number {
  const wanted = request.selection.traces;
  return data.model.traces
    .filter((_, at) => wanted === undefined || wanted.includes(at))
    .map((trace) => Math.max(0, Math.min(range.to, trace.offset_ns + trace.duration_ns) - Math.max(range.from, trace.offset_ns)))
    .reduce((sum, time) => sum + time, 0);
}

import type { Group, QueryAnswer, QueryRequest } from "../api/types";
import { Buckets } from "./buckets";
import type { Data } from "./data";
import { NamesUsed } from "./names";
import { forEachSelected, mulDiv, rangeOf, timesBetween, type Selected } from "./selected";
import { edgesOf, spread } from "./spread";
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
  series: number[] | null;
  /** Of the wait at hand: what the group has of it. */
  visit: number;
  time: number;
  waitsOfVisit: number;
  maxOfVisit: number;
  at: number;
}

function newSum(parent: Sum | null, value: number, buckets: number): Sum {
  return {
    parent, value, depth: parent === null ? 0 : parent.depth + 1, children: new Map(),
    duration: 0, waits: 0, contentions: 0, max: 0, wall: 0, wallUntil: 0, waited: 0, histogram: new Buckets(), threads: new Set(),
    series: buckets > 0 ? new Array<number>(buckets).fill(0) : null,
    visit: -1, time: 0, waitsOfVisit: 0, maxOfVisit: 0, at: -1,
  };
}

/** Groups of a selection by aspects. */
export function query(data: Data, request: QueryRequest): QueryAnswer {
  const { selection, by } = request;
  const buckets = Math.min(2_048, request.buckets ?? 0);
  const columns = by.map((aspect) => data.column(aspect));
  const hasOwner = columns.some((column) => column.ofOwner) || (selection.filter ?? []).some((condition) => condition.aspect.startsWith("owner-"));
  const range = rangeOf(data, selection);
  const root = newSum(null, -1, buckets);
  const union = new Union();
  const safepoints = new Array<number>(buckets).fill(0);
  const edges = buckets > 0 ? edgesOf(range, buckets) : [];
  const threadColumn = data.column("thread").values;

  let visit = 0;
  const touched: Sum[] = [];
  forEachSelected(data, selection, (selected) => {
    visit++;
    touched.length = 0;
    const thread = threadColumn[selected.waiter]!;
    const bySeries = buckets > 0 ? seriesOf(data, selected, edges) : null;
    for (let at = 0; at < selected.owners.length; at++) {
      let sum = root;
      for (let depth = 0; ; depth++) {
        addShare(sum, selected, at, visit, touched, bySeries);
        if (depth === columns.length) break;
        const column = columns[depth]!;
        const value = column.values[column.ofOwner ? selected.owners[at]! : selected.waiter]!;
        let child = sum.children.get(value);
        if (child === undefined) sum.children.set(value, (child = newSum(sum, value, buckets)));
        sum = child;
      }
    }
    union.add(selected.from, selected.to);
    if (buckets > 0) addSafepoints(safepoints, data, selected, edges);
    for (const sum of touched) {
      sum.threads.add(thread);
      addWait(sum, data, selected, hasOwner);
      addWall(sum, selected);
    }
  });

  return answer(data, request, root, hasOwner, union, safepoints, edges, range);
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
    for (let bucket = 0; bucket < own.length; bucket++) if (own[bucket] !== 0) sum.series[bucket]! += own[bucket]!;
  }
}

function addWait(sum: Sum, data: Data, selected: Selected, hasOwner: boolean): void {
  if (!selected.folded) {
    sum.waits++;
    sum.max = Math.max(sum.max, sum.time);
    sum.histogram.add(sum.time);
    return;
  }
  const waits = Math.min(selected.waits, sum.waitsOfVisit);
  sum.waits += waits;
  sum.max = Math.max(sum.max, sum.maxOfVisit);
  if (hasOwner) sum.histogram.add(Math.floor(sum.time / Math.max(1, waits)), waits);
  else for (const [bucket, count] of data.folded.histogram[selected.row]!) sum.histogram.addBucket(bucket, count);
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

/** The trace does not say when safepoints were: their time is spread evenly over a wait. */
function addSafepoints(series: number[], data: Data, selected: Selected, edges: number[]): void {
  if (selected.folded) return;
  const safepoint = data.waits.safepoint_ns[selected.row]!;
  if (safepoint > 0) spread(series, edges, selected, mulDiv(safepoint, selected.pieceNs, data.waits.duration_ns[selected.row]!));
}

/** For each selected share, its time in each bucket. */
function seriesOf(data: Data, selected: Selected, edges: number[]): Float64Array[] {
  const buckets = edges.length - 1;
  const series = selected.owners.map(() => new Float64Array(buckets));
  if (selected.folded || data.parts === null) {
    selected.durations.forEach((duration, at) => spread(series[at]!, edges, selected, duration));
    return series;
  }
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

function answer(data: Data, request: QueryRequest, root: Sum, hasOwner: boolean, union: Union, safepoints: number[], edges: number[], range: { from: number; to: number }): QueryAnswer {
  const limit = Math.max(1, Math.min(MAX_LIMIT, request.limit ?? DEFAULT_LIMIT));
  const names = new NamesUsed(data);
  const groups: Group[] = [];
  const omitted: QueryAnswer["omitted"] = [];
  const total = group(root, [], hasOwner);
  if (edges.length > 1) {
    total.wall_series = union.series(edges);
    total.safepoint_series = safepoints;
  }
  groups.push(total);

  let level = [root];
  for (let depth = 1; depth <= request.by.length; depth++) {
    const all = level.flatMap((sum) => [...sum.children.values()]).sort((a, b) => b.duration - a.duration);
    const kept = all.slice(0, limit);
    omitted.push({ groups: all.length - kept.length, duration_ns: all.slice(limit).reduce((sum, one) => sum + one.duration, 0) });
    for (const sum of kept) groups.push(group(sum, pathOf(sum, names), hasOwner));
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

function group(sum: Sum, path: number[], hasOwner: boolean): Group {
  return {
    path,
    duration_ns: sum.duration,
    waits: sum.waits,
    contentions: sum.contentions,
    max_ns: sum.max,
    p50_ns: sum.histogram.percentile(50, sum.max),
    p99_ns: sum.histogram.percentile(99, sum.max),
    threads: sum.threads.size,
    wall_ns: hasOwner && sum.waited > 0 ? Math.round(sum.wall * (sum.duration / sum.waited)) : sum.wall,
    ...(sum.series === null ? {} : { series: sum.series }),
  };
}

/** How long the selected traces ran in the range. */
function tracedTime(data: Data, request: QueryRequest, range: { from: number; to: number }): number {
  const wanted = request.selection.traces;
  return data.model.traces
    .filter((_, at) => wanted === undefined || wanted.includes(at))
    .map((trace) => Math.max(0, Math.min(range.to, trace.offset_ns + trace.duration_ns) - Math.max(range.from, trace.offset_ns)))
    .reduce((sum, time) => sum + time, 0);
}

import type { Aspect, QueryAnswer, Value } from "../api/types";
import type { Grain } from "./address";
import { isPlaceholder } from "./colours";

/** A node of the graph of blocking: from waiters, if asked for by way of the lock, to owners. */
export interface BlockNode {
  id: string;
  value: Value;
  aspect: Aspect;
  role: "waiter" | "owner" | "both" | "lock" | "nobody";
  /** Its own waiting, and the waiting of those who wait for it. */
  waits: number;
  holds: number;
}

export interface BlockEdge {
  from: string;
  to: string;
  duration: number;
  waits: number;
  /** Part of a cycle of several nodes: they wait for each other, perhaps not at the same time. */
  isCycle: boolean;
}

export interface BlockGraph {
  nodes: BlockNode[];
  edges: BlockEdge[];
  omitted: { edges: number; duration: number };
}

export function blockAspects(grain: Grain): Aspect[] {
  if (grain === "thread") return ["thread", "owner-thread"];
  return grain === "lock" ? ["method", "lock-class", "owner-method"] : ["method", "owner-method"];
}

/** The graph of an answer by the aspects of a grain; at most `mostNodes` nodes, and only edges
 * with a share of the time, unless these have little of it. */
export function blockGraph(answer: QueryAnswer, by: Aspect[], mostNodes: number, minShare: number): BlockGraph {
  const nodes = new Map<string, BlockNode>();
  const edges = new Map<string, BlockEdge>();
  const omitted = { edges: 0, duration: 0 };
  const total = answer.groups.find((group) => group.path.length === 0)!.duration_ns;
  const leaves = answer.groups.filter((group) => group.path.length === by.length).sort((a, b) => b.duration_ns - a.duration_ns);
  const large = leaves.filter((group) => group.duration_ns >= total * minShare);
  // Many pairs with as little time each are not nothing.
  const isOfLarge = large.reduce((sum, group) => sum + group.duration_ns, 0) > total / 2;
  for (const [at, group] of leaves.entries()) {
    const ids = group.path.map((at, depth) => idOf(by[depth]!, answer.values[at]!));
    const added = ids.filter((id) => !nodes.has(id)).length;
    if (nodes.size + added > mostNodes || (isOfLarge && at >= large.length)) {
      omitted.edges++;
      omitted.duration += group.duration_ns;
      continue;
    }
    ids.forEach((id, depth) => addNode(nodes, id, answer.values[group.path[depth]!]!, by[depth]!, group.duration_ns));
    for (let at = 0; at + 1 < ids.length; at++) addEdge(edges, ids[at]!, ids[at + 1]!, group.duration_ns, group.waits);
  }
  const graph = { nodes: [...nodes.values()], edges: [...edges.values()].sort((a, b) => b.duration - a.duration), omitted };
  markCycles(graph);
  return graph;
}

/** A thread, or a method, is one node whether it waits or holds. */
function idOf(aspect: Aspect, value: Value): string {
  return `${aspect.replace("owner-", "")} ${value.key}`;
}

function addNode(nodes: Map<string, BlockNode>, id: string, value: Value, aspect: Aspect, duration: number): void {
  const role = isPlaceholder(value.key) ? "nobody" : aspect === "lock-class" ? "lock" : aspect.startsWith("owner-") ? "owner" : "waiter";
  const node = nodes.get(id);
  if (node === undefined) {
    nodes.set(id, { id, value, aspect, role, waits: role === "waiter" ? duration : 0, holds: role === "waiter" ? 0 : duration });
    return;
  }
  if (role === "waiter") node.waits += duration;
  else node.holds += duration;
  if (node.role !== role) node.role = "both";
}

function addEdge(edges: Map<string, BlockEdge>, from: string, to: string, duration: number, waits: number): void {
  const id = JSON.stringify([from, to]);
  const edge = edges.get(id);
  if (edge === undefined) edges.set(id, { from, to, duration, waits, isCycle: false });
  else {
    edge.duration += duration;
    edge.waits += waits;
  }
}

/** An edge is in a cycle if its end leads back to its beginning. */
function markCycles({ edges }: BlockGraph): void {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  for (const edge of edges) {
    if (edge.from === edge.to) continue;
    const seen = new Set<string>();
    const open = [edge.to];
    for (let node = open.pop(); node !== undefined && !edge.isCycle; node = open.pop()) {
      if (node === edge.from) edge.isCycle = true;
      if (seen.has(node)) continue;
      seen.add(node);
      open.push(...(next.get(node) ?? []));
    }
  }
}

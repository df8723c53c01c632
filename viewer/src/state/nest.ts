import type { Aspect, Group, QueryAnswer, Value } from "../api/types";

/** A group with the groups below it. */
export interface Node {
  /** Keys from the outermost aspect on; the same in every answer. */
  path: string[];
  /** The path as one text. */
  id: string;
  value: Value | null;
  /** The aspect of the value; several may share one. */
  aspect: Aspect | null;
  group: Group;
  children: Node[];
}

export type Measure = "duration_ns" | "waits" | "p50_ns" | "p99_ns" | "max_ns" | "threads";

export function idOf(path: string[]): string {
  return JSON.stringify(path);
}

/** Groups come in no order: nests and sorts them. */
export function nest(answer: QueryAnswer, by: Aspect[], sort: Measure = "duration_ns"): Node {
  const nodes = new Map<string, Node>();
  const sorted = [...answer.groups].sort((a, b) => a.path.length - b.path.length);
  let root: Node | null = null;
  for (const group of sorted) {
    const value = group.path.length === 0 ? null : answer.values[group.path[group.path.length - 1]!]!;
    const path = group.path.map((at) => answer.values[at]!.key);
    const node: Node = { path, id: idOf(path), value, aspect: by[path.length - 1] ?? null, group, children: [] };
    nodes.set(group.path.join(), node);
    if (group.path.length === 0) root = node;
    // A parent that the limit left out takes its children with it.
    else nodes.get(group.path.slice(0, -1).join())?.children.push(node);
  }
  for (const node of nodes.values()) {
    node.children.sort((a, b) => b.group[sort] - a.group[sort] || b.group.duration_ns - a.group.duration_ns || (a.id < b.id ? -1 : 1));
  }
  if (root === null) throw new Error("an answer without a total");
  return root;
}

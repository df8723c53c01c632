import type { Frame, QueryAnswer } from "../api/types";
import type { FlameMode } from "./address";
import { isPlaceholder } from "./colours";
import { frameId } from "./stack";

/** A rectangle of a flame graph: time in which the frames from the root to here were on a stack. */
export interface FlameNode {
  id: string;
  label: string;
  frame: Frame | null;
  side: "owner" | "waiter" | "lock" | "nobody" | "root";
  total: number;
  /** Time of the selection compared with, where there is one. */
  other: number;
  children: FlameNode[];
}

export function newRoot(label: string): FlameNode {
  return { id: "", label, frame: null, side: "root", total: 0, other: 0, children: [] };
}

type Piece = Pick<FlameNode, "id" | "label" | "frame" | "side">;

function add(root: FlameNode, pieces: Piece[], weight: number, field: "total" | "other"): void {
  root[field] += weight;
  let node = root;
  for (const piece of pieces) {
    let child = node.children.find((one) => one.id === piece.id);
    if (child === undefined) node.children.push((child = { ...piece, total: 0, other: 0, children: [] }));
    child[field] += weight;
    node = child;
  }
}

function sort(node: FlameNode): void {
  node.children.sort((a, b) => b.total + b.other - (a.total + a.other) || (a.id < b.id ? -1 : 1));
  node.children.forEach(sort);
}

/** The frames of a chain from the innermost on; a placeholder is one piece. */
function piecesOf(answer: QueryAnswer, at: number, side: "owner" | "waiter"): Piece[] {
  const value = answer.values[at]!;
  const frames = value.chain?.frames ?? [];
  if (frames.length === 0) return [{ id: value.key, label: value.label, frame: null, side: isPlaceholder(value.key) ? "nobody" : side }];
  return frames.map((index) => {
    const frame = answer.frames[index]!;
    return { id: frameId(frame), label: frame.method, frame, side };
  });
}

/** Returns the aspects that a flame graph asks for. */
export function flameAspects(mode: FlameMode): QueryAnswer["values"][number]["aspect"][] {
  if (mode === "owners") return ["owner-chain"];
  return mode === "waiters" ? ["chain"] : ["owner-chain", "lock-class", "chain"];
}

/** Merges the chains of an answer into a flame graph, and the other answer's over it. */
export function flame(answer: QueryAnswer, mode: FlameMode, isInverted: boolean, other: QueryAnswer | null = null, scale = 1): FlameNode {
  const root = newRoot("everything");
  const depth = flameAspects(mode).length;
  const merge = (from: QueryAnswer, field: "total" | "other", factor: number) => {
    for (const group of from.groups) {
      if (group.path.length !== depth) continue;
      add(root, path(from, group.path, mode, isInverted), group.duration_ns * factor, field);
    }
  };
  merge(answer, "total", 1);
  if (other !== null) merge(other, "other", scale);
  sort(root);
  return root;
}

function path(answer: QueryAnswer, at: number[], mode: FlameMode, isInverted: boolean): Piece[] {
  if (mode !== "chain") {
    const pieces = piecesOf(answer, at[0]!, mode === "owners" ? "owner" : "waiter");
    return isInverted ? pieces : pieces.reverse();
  }
  // The owner's stack, the lock, and the waiter's stack upside down.
  const lock = answer.values[at[1]!]!;
  return [
    ...piecesOf(answer, at[0]!, "owner").reverse(),
    { id: `lock ${lock.key}`, label: lock.label, frame: null, side: "lock" },
    ...piecesOf(answer, at[2]!, "waiter"),
  ];
}

/** Returns the callers of one method, and the methods that it calls. */
export function sandwich(answer: QueryAnswer, mode: "owners" | "waiters", key: string): { callers: FlameNode; callees: FlameNode } {
  const callers = newRoot("callers");
  const callees = newRoot("callees");
  for (const group of answer.groups) {
    if (group.path.length !== 1) continue;
    const pieces = piecesOf(answer, group.path[0]!, mode === "owners" ? "owner" : "waiter");
    // The outermost occurrence, so that a recursion counts once.
    const at = pieces.map((piece) => piece.frame?.key).lastIndexOf(key);
    if (at < 0) continue;
    const method = pieces[at]!;
    const whole: Piece = { ...method, id: key };
    add(callers, [whole, ...pieces.slice(at + 1)], group.duration_ns, "total");
    add(callees, [whole, ...pieces.slice(0, at).reverse()], group.duration_ns, "total");
  }
  sort(callers);
  sort(callees);
  return { callers, callees };
}

/** Time of a node that none of its children has. */
export function selfTime(node: FlameNode): number {
  return node.total - node.children.reduce((sum, child) => sum + child.total, 0);
}

/** For each method, its time on a stack and its time innermost; a recursion counts once. */
export function byMethod(root: FlameNode): { key: string; label: string; total: number; self: number }[] {
  const methods = new Map<string, { key: string; label: string; total: number; self: number }>();
  const walk = (node: FlameNode, above: Set<string>) => {
    const key = node.frame?.key ?? node.id;
    let method = methods.get(key);
    if (method === undefined) methods.set(key, (method = { key, label: node.label, total: 0, self: 0 }));
    if (!above.has(key)) method.total += node.total;
    method.self += selfTime(node);
    const below = new Set([...above, key]);
    node.children.forEach((child) => walk(child, below));
  };
  root.children.forEach((child) => walk(child, new Set()));
  return [...methods.values()].sort((a, b) => b.total - a.total);
}

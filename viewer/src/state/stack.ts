import type { Frame, QueryAnswer, Value } from "../api/types";

/** Call chains merged from the innermost frame on, weighted by the time of each. */
export interface StackNode {
  id: string;
  /** Null for what has no frames: a lock that was free, an owner that is not known. */
  frame: Frame | null;
  label: string;
  weight: number;
  /** The frame in which the program stands; those further in are the lock's own. */
  isFirst: boolean;
  children: StackNode[];
}

export function frameId(frame: Frame): string {
  return `${frame.key}:${frame.line}`;
}

export function place(frame: Frame): string {
  if (frame.file === "") return "";
  return frame.line < 0 ? frame.file : `${frame.file}:${frame.line}`;
}

function childOf(parent: StackNode, id: string, make: () => Omit<StackNode, "id" | "weight" | "children">): StackNode {
  let child = parent.children.find((one) => one.id === id);
  if (child === undefined) parent.children.push((child = { id, weight: 0, children: [], ...make() }));
  return child;
}

/** Merges the chains of an answer by one aspect of chains, with the frames inside of the lock or without. */
export function mergeChains(answer: QueryAnswer, withLock: boolean): StackNode {
  const root: StackNode = { id: "", frame: null, label: "", weight: 0, isFirst: false, children: [] };
  for (const group of answer.groups) {
    if (group.path.length !== 1) continue;
    const value: Value = answer.values[group.path[0]!]!;
    root.weight += group.duration_ns;
    const first = value.chain?.first ?? 0;
    const frames = value.chain?.frames.slice(withLock ? 0 : first) ?? [];
    let node = root;
    if (frames.length === 0) {
      node = childOf(root, value.key, () => ({ frame: null, label: value.label, isFirst: false }));
      node.weight += group.duration_ns;
    }
    frames.forEach((at, depth) => {
      const frame = answer.frames[at]!;
      node = childOf(node, frameId(frame), () => ({ frame, label: frame.method, isFirst: depth === (withLock ? first : 0) }));
      node.weight += group.duration_ns;
    });
  }
  sort(root);
  return root;
}

function sort(node: StackNode): void {
  node.children.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
  node.children.forEach(sort);
}

/** Some chains have frames inside of the lock. */
export function haveLockFrames(answer: QueryAnswer): boolean {
  return answer.values.some((value) => (value.chain?.first ?? 0) > 0);
}

/** The path of the most time, or the one chosen, with what else there is at each step. */
export interface Step {
  node: StackNode;
  /** The path where a choice is kept: the ids from the innermost frame on. */
  parentPath: string;
  alternatives: StackNode[];
}

export function pathOf(root: StackNode, choices: ReadonlyMap<string, string>): Step[] {
  const steps: Step[] = [];
  let node = root;
  let parentPath = "";
  while (node.children.length > 0) {
    const chosen = choices.get(parentPath);
    const next = node.children.find((child) => child.id === chosen) ?? node.children[0]!;
    steps.push({ node: next, parentPath, alternatives: node.children });
    parentPath += `${next.id}\n`;
    node = next;
  }
  return steps;
}

/** Returns the number of the outermost frames that two paths have in common. */
export function commonFrames(one: Step[], other: Step[]): number {
  let common = 0;
  const at = (steps: Step[]) => steps[steps.length - 1 - common]?.node.frame;
  for (let a = at(one), b = at(other); a && b && frameId(a) === frameId(b); a = at(one), b = at(other)) common++;
  return common;
}

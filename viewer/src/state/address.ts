import { ASPECTS, KINDS, type Aspect, type Condition, type Kind, type LaneAspect, type Selection } from "../api/types";

/** All of the page's state is in the fragment of its address: docs/viewer-api.md, "In an address". */
export const VIEWS = ["summary", "tree", "flame", "timeline", "graph", "waits", "compare"] as const;
export type View = (typeof VIEWS)[number];
export const FLAMES = ["owners", "waiters", "chain"] as const;
export type FlameMode = (typeof FLAMES)[number];
export const GRAINS = ["thread", "lock", "code"] as const;
export type Grain = (typeof GRAINS)[number];
export const LANES: LaneAspect[] = ["lock", "lock-class", "thread"];

export interface Range {
  from_ns: number;
  to_ns: number;
}

export interface Address {
  view: View;
  selection: Selection;
  /** Aspects of the tree, the outermost first. */
  by: Aspect[];
  /** The row of the tree that the stacks are about, from the outermost aspect on. */
  at: string[];
  flame: FlameMode;
  isInverted: boolean;
  /** Key of the method that a sandwich is about. */
  sandwich: string | null;
  lanes: LaneAspect;
  grain: Grain;
  /** A single wait. */
  wait: number | null;
  sort: "duration" | "start";
  /** The length of the newest part that is followed, in place of the selection's range; null if
   * no part is followed. */
  last: number | null;
  /** The range that the selection is compared with. */
  other: Range | null;
  /** Units of work before and after. */
  work: [number, number] | null;
  /** The text to search for, in all views. */
  search: string;
}

export const DEFAULT_BY: Aspect[] = ["lock-class", "owner-method", "method"];

function oneOf<T extends string>(text: string | null, known: readonly T[], otherwise: T): T {
  return known.find((one) => one === text) ?? otherwise;
}

function numberOf(text: string | null): number | undefined {
  const number = text === null || text === "" ? NaN : Number(text);
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

export function parseAddress(fragment: string): Address {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ""));
  const by = (parameters.get("by") ?? "").split(",").filter((name): name is Aspect => ASPECTS.includes(name as Aspect));
  const [otherFrom, otherTo] = [numberOf(parameters.get("other.from")), numberOf(parameters.get("other.to"))];
  const work = (parameters.get("work") ?? "").split(",").map(Number);
  return {
    view: oneOf(parameters.get("view"), VIEWS, "summary"),
    selection: parseSelection(parameters),
    by: by.length > 0 ? [...new Set(by)].slice(0, 8) : DEFAULT_BY,
    at: parameters.getAll("at"),
    flame: oneOf(parameters.get("flame"), FLAMES, "owners"),
    isInverted: parameters.get("inverted") === "1",
    sandwich: parameters.get("sandwich"),
    lanes: oneOf(parameters.get("lanes"), LANES, "lock"),
    grain: oneOf(parameters.get("grain"), GRAINS, "code"),
    wait: numberOf(parameters.get("wait")) ?? null,
    sort: oneOf(parameters.get("sort"), ["duration", "start"], "duration"),
    last: numberOf(parameters.get("last")) || null,
    other: otherFrom !== undefined && otherTo !== undefined ? { from_ns: otherFrom, to_ns: otherTo } : null,
    work: work.length === 2 && work.every((units) => units > 0) ? [work[0]!, work[1]!] : null,
    search: parameters.get("search") ?? "",
  };
}

function parseSelection(parameters: URLSearchParams): Selection {
  const selection: Selection = {};
  const numbers = { from_ns: "from", to_ns: "to", min_ns: "min", max_ns: "max" } as const;
  for (const [field, name] of Object.entries(numbers) as [keyof typeof numbers, string][]) {
    const number = numberOf(parameters.get(name));
    if (number !== undefined) selection[field] = number;
  }
  const kinds = parameters.getAll("kind").filter((name): name is Kind => KINDS.includes(name as Kind));
  if (kinds.length > 0) selection.kinds = kinds;
  const traces = parameters.getAll("trace").map(numberOf).filter((at): at is number => at !== undefined);
  if (traces.length > 0) selection.traces = traces;
  const filter: Condition[] = [];
  for (const not of [false, true]) {
    for (const aspect of ASPECTS) {
      const keys = parameters.getAll(`${not ? "not" : "is"}.${aspect}`);
      if (keys.length > 0) filter.push({ aspect, in: keys, ...(not ? { not } : {}) });
    }
  }
  if (filter.length > 0) selection.filter = filter;
  return selection;
}

export function printAddress(address: Address): string {
  const parameters = new URLSearchParams({ v: "1", view: address.view });
  const { selection } = address;
  const put = (name: string, value: string | number | undefined | null) => {
    if (value !== undefined && value !== null && value !== "") parameters.append(name, String(value));
  };
  if (address.last === null) {
    put("from", selection.from_ns);
    put("to", selection.to_ns);
  }
  put("last", address.last);
  put("min", selection.min_ns);
  put("max", selection.max_ns);
  selection.kinds?.forEach((kind) => put("kind", kind));
  selection.traces?.forEach((trace) => put("trace", trace));
  for (const { aspect, not, in: keys } of selection.filter ?? []) keys.forEach((key) => put(`${not ? "not" : "is"}.${aspect}`, key));
  if (address.by.join() !== DEFAULT_BY.join()) put("by", address.by.join());
  address.at.forEach((key) => put("at", key));
  if (address.flame !== "owners") put("flame", address.flame);
  if (address.isInverted) put("inverted", "1");
  put("sandwich", address.sandwich);
  if (address.lanes !== "lock") put("lanes", address.lanes);
  if (address.grain !== "code") put("grain", address.grain);
  put("wait", address.wait);
  if (address.sort !== "duration") put("sort", address.sort);
  if (address.other !== null) {
    put("other.from", address.other.from_ns);
    put("other.to", address.other.to_ns);
  }
  put("work", address.work?.join());
  put("search", address.search);
  return `#${parameters}`;
}

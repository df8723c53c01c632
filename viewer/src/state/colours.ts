import type { Value } from "../api/types";

/** The number of owners with a colour of their own; the others share one. */
export const OWNER_COLOURS = 7;

/** The way to draw time, by the owner of the lock. */
export type Ink = { name: string; hatch: "none" | "free" | "unknown" | "others" };

export type OwnerColours = (value: Value | undefined) => Ink;

/** The owners with the most time in the whole trace have colours, so that these never change. */
export function ownerColours(ranked: string[]): OwnerColours {
  const rank = new Map(ranked.slice(0, OWNER_COLOURS).map((key, at) => [key, at]));
  return (value) => {
    if (value === undefined) return { name: "--owner-other", hatch: "others" };
    if (value.key === "<free>") return { name: "--free", hatch: "free" };
    if (value.key === "<folded>" || value.key === "<others>") return { name: "--owner-other", hatch: "others" };
    if (isPlaceholder(value.key)) return { name: "--unknown", hatch: "unknown" };
    const at = rank.get(value.key);
    return at === undefined ? { name: "--owner-other", hatch: "others" } : { name: `--owner-${at + 1}`, hatch: "none" };
  };
}

const PLACEHOLDERS = new Set(["<free>", "<frozen>", "<handoff>", "<no-exit>", "<lost>", "<collapsed>", "<readers>", "<not-woken>", "<trace-ended>", "<folded>", "<others>"]);

/** Nobody is known to have had the lock. */
export function isPlaceholder(key: string): boolean {
  return PLACEHOLDERS.has(key);
}

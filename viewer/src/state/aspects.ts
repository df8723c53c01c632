import { ASPECTS, type Aspect, type Selection, type Value } from "../api/types";
import { isPlaceholder } from "./colours";

export const ASPECT_LABELS: Record<Aspect, string> = {
  "lock-class": "lock class",
  lock: "lock",
  thread: "blocked thread",
  method: "blocked method",
  caller: "blocked caller",
  chain: "blocked chain",
  "owner-thread": "owner thread",
  "owner-method": "owner method",
  "owner-caller": "owner caller",
  "owner-chain": "owner chain",
  mechanism: "mechanism",
  kind: "kind",
  trace: "trace",
};

/** The side of a wait that an aspect is about; it has the side's colour everywhere. */
export type Side = "owner" | "waiter" | "lock";

export function sideOf(aspect: Aspect): Side {
  if (aspect.startsWith("owner-")) return "owner";
  return ["thread", "method", "caller", "chain"].includes(aspect) ? "waiter" : "lock";
}

/** Whether only waits for locks are selected: who ended another wait held nothing. */
export const isOfLocks = ({ kinds = ["contention"] }: Selection) => kinds.every((kind) => kind === "contention");

/** Before a value, as in `held by X`, `blocked Y`. */
export function roleOf(aspect: Aspect, value: Value, selection: Selection): string {
  const side = sideOf(aspect);
  if (side === "lock" || isPlaceholder(value.key)) return "";
  const onlyLocks = isOfLocks(selection);
  if (side === "waiter") return onlyLocks ? "blocked" : "waited";
  if (onlyLocks) return "held by";
  return selection.kinds?.includes("contention") ? "held or woken by" : "woken by";
}

export interface Preset {
  name: string;
  by: Aspect[];
}

export const PRESETS: Preset[] = [
  { name: "By lock", by: ["lock-class", "owner-method", "method"] },
  { name: "By thread", by: ["thread", "lock-class", "owner-thread"] },
  { name: "By owner code", by: ["owner-method", "lock-class", "method"] },
  { name: "By blocked code", by: ["method", "lock-class", "owner-method"] },
];

export const ALL_ASPECTS: readonly Aspect[] = ASPECTS;

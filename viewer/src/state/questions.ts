import type { Aspect, QueryRequest, Selection, Store } from "../api/types";
import { FLAMES, GRAINS, type FlameMode, type Grain } from "./address";
import { PRESETS } from "./aspects";
import { blockAspects } from "./blocking";
import { flameAspects } from "./flame";

/** Groups of each depth of a tree, at first and with all rows. */
const TREE_LIMIT = 200;
const TREE_LIMIT_OF_ALL = 2_000;
const TREE_BUCKETS = 36;

/** The questions of the views about a selection, in the same words each time, so that a server
 * finds the answer again. */
export function treeQuery(selection: Selection, by: Aspect[], isAll: boolean): QueryRequest {
  return { selection, by, limit: isAll ? TREE_LIMIT_OF_ALL : TREE_LIMIT, buckets: TREE_BUCKETS };
}

export function stackQueries(selection: Selection): Record<"waiting" | "owning" | "locks", QueryRequest> {
  return {
    waiting: { selection, by: ["chain"], limit: 300 },
    owning: { selection, by: ["owner-chain"], limit: 300 },
    locks: { selection, by: ["lock-class", "lock"], limit: 50 },
  };
}

export function flameQuery(selection: Selection, mode: FlameMode): QueryRequest {
  return { selection, by: flameAspects(mode), limit: 20_000 };
}

export function blockQuery(selection: Selection, grain: Grain): QueryRequest {
  return { selection, by: blockAspects(grain), limit: 2_000 };
}

/** Returns the question for the safepoints, for the lane above all others. */
export function safepointQuery(selection: Selection): QueryRequest {
  return { selection, by: [], buckets: 300 };
}

/** Asks the questions in advance that people usually ask about a trace that is read: one after
 * the other, while nothing else is asked. */
export async function askAhead(store: Store, signal: AbortSignal): Promise<void> {
  const everything: Selection = {};
  const questions = [
    ...Object.values(stackQueries(everything)),
    ...PRESETS.map(({ by }) => treeQuery(everything, by, false)),
    ...FLAMES.map((mode) => flameQuery(everything, mode)),
    ...GRAINS.map((grain) => blockQuery(everything, grain)),
    safepointQuery(everything),
  ];
  for (const question of questions) {
    if (signal.aborted) return;
    await store.expect(question, signal);
  }
}

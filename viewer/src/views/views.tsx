import type { JSX } from "preact";
import type { View } from "../state/address";
import { SummaryView } from "./summary";
import { TreeView } from "./tree";

export const VIEW_NAMES: Record<View, string> = {
  summary: "Summary",
  tree: "Tree",
  flame: "Flame graph",
  timeline: "Timeline",
  graph: "Who blocks whom",
  waits: "Waits",
  compare: "Compare",
};

const COMPONENTS: Record<View, () => JSX.Element> = {
  summary: SummaryView,
  tree: TreeView,
  flame: TreeView,
  timeline: TreeView,
  graph: TreeView,
  waits: TreeView,
  compare: TreeView,
};

export function ViewOf({ view }: { view: View }) {
  const Component = COMPONENTS[view];
  return <Component />;
}

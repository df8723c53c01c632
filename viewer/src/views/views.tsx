import type { JSX } from "preact";
import type { View } from "../state/address";
import { CompareView } from "./compare";
import { FlameView } from "./flame";
import { GraphView } from "./graph";
import { SummaryView } from "./summary";
import { TimelineView } from "./timeline";
import { TreeView } from "./tree";
import { WaitsView } from "./waits";

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
  flame: FlameView,
  timeline: TimelineView,
  graph: GraphView,
  waits: WaitsView,
  compare: CompareView,
};

export function ViewOf({ view }: { view: View }) {
  const Component = COMPONENTS[view];
  return <Component />;
}

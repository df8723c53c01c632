import dagre from "@dagrejs/dagre";
import { useMemo, useState } from "preact/hooks";
import { CodeName } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { DataTable, sheetOf, type Column } from "../parts/data-table";
import type { Grain } from "../state/address";
import { blockAspects, blockGraph, type BlockEdge, type BlockGraph, type BlockNode } from "../state/blocking";
import { usePage, useQuery } from "../state/page";
import { blockQuery } from "../state/questions";
import { narrow } from "../state/selection";
import { count, duration, percent, plural, share } from "../text/units";

const GRAINS: [Grain, string][] = [["code", "By code"], ["lock", "By code and lock class"], ["thread", "By thread"]];
const MOST_NODES = 40;
/** Pairs with less of the time are left out, unless asked for. */
const SMALL = 0.005;

/** The graph of blocking: arrows from waiters to owners. */
export function GraphView() {
  const { address, go } = usePage();
  const { grain, selection } = address;
  const [isTable, setTable] = useState(false);
  const [isAll, setAll] = useState(false);
  const by = blockAspects(grain);
  const { answer, isLoading, error } = useQuery(blockQuery(selection, grain));
  const graph = useMemo(() => (answer === null ? null : blockGraph(answer, by, MOST_NODES, isAll ? 0 : SMALL)), [answer, grain, isAll]);
  const total = answer?.groups.find((group) => group.path.length === 0)?.duration_ns ?? 0;
  const choose = (node: BlockNode) => {
    const aspect = node.role === "owner" && !node.aspect.startsWith("owner-") ? (`owner-${node.aspect}` as typeof node.aspect) : node.aspect;
    go({ selection: narrow(selection, aspect, node.value.key), at: [] });
  };

  return (
    <>
      <div class="toolbar">
        <div class="segmented" role="group" aria-label="What the nodes are">
          {GRAINS.map(([name, title]) => <button key={name} aria-pressed={grain === name} onClick={() => go({ grain: name })}>{title}</button>)}
        </div>
        <span class="fill" />
        <button aria-pressed={isAll} onClick={() => setAll(!isAll)} title="Also pairs with less than 0.5 % of the time">All pairs</button>
        <button aria-pressed={isTable} onClick={() => setTable(!isTable)}>Table</button>
        {graph !== null && <CopyMenu what="who blocks whom" sheet={() => sheetOf("Who blocks whom", columns(graph, total), graph.edges)} />}
      </div>
      <p class="dim small">Arrows lead from who waits to who holds; the wider, the longer. <span class="waiter">Blue</span> waits, <span class="owner">orange</span> holds. A loop: others in the same code hold the lock. Dashed red: they wait for each other, perhaps at different times.</p>
      {error !== null && <p class="notice bad">{error}</p>}
      {graph !== null && (graph.edges.length === 0 ? <p class="empty card">No thread waited here.</p> : isTable
        ? <DataTable label="Who blocks whom" columns={columns(graph, total)} rows={graph.edges} sortedBy={2} />
        : <div class={`figure ${isLoading ? "loading" : ""}`}><Drawing graph={graph} total={total} onChoose={choose} /></div>)}
      {graph !== null && graph.omitted.edges > 0 && <p class="dim">{plural(graph.omitted.edges, "more pair")} with {duration(graph.omitted.duration)} ({percent(share(graph.omitted.duration, total))}) in all are left out{isAll ? `, beyond ${MOST_NODES} nodes` : `: below ${percent(SMALL)} each, or beyond ${MOST_NODES} nodes`}.</p>}
    </>
  );
}

interface Point {
  x: number;
  y: number;
}

/** Names are shown by their last two parts; the title has all. */
function shortName(label: string): string {
  const short = label.replace(/^(?:[a-z_][\w$]*\.)+(?=[A-Z])/, "");
  return short.length > 38 ? `${short.slice(0, 37)}…` : short;
}

function layOut(graph: BlockGraph) {
  const layout = new dagre.graphlib.Graph({ multigraph: false });
  layout.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 96, marginx: 12, marginy: 12 });
  layout.setDefaultEdgeLabel(() => ({}));
  for (const node of graph.nodes) layout.setNode(node.id, { width: Math.max(node.role === "both" ? 184 : 120, shortName(node.value.label).length * 7.4 + 22), height: 40 });
  for (const edge of graph.edges) layout.setEdge(edge.from, edge.to, { width: 60, height: 14, labelpos: "c" });
  dagre.layout(layout);
  return layout;
}

function Drawing({ graph, total, onChoose }: { graph: BlockGraph; total: number; onChoose: (node: BlockNode) => void }) {
  const layout = useMemo(() => layOut(graph), [graph]);
  const { width = 100, height = 100 } = layout.graph();
  const most = Math.max(1, ...graph.edges.map((edge) => edge.duration));
  return (
    <div class="graph-scroll">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`Who blocks whom: ${plural(graph.nodes.length, "node")}, ${plural(graph.edges.length, "arrow")}`}>
        <defs>
          <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="16" markerHeight="16" orient="auto">
            <path d="M0 0L8 4L0 8Z" fill="var(--line-2)" />
          </marker>
          <linearGradient id="both"><stop offset="0.45" stop-color="var(--waiter-bg)" /><stop offset="0.55" stop-color="var(--owner-bg)" /></linearGradient>
        </defs>
        <g aria-hidden="true">
          {graph.edges.map((edge) => {
            const { points, x, y } = layout.edge(edge.from, edge.to) as { points: Point[]; x: number; y: number };
            return (
              <g key={`${edge.from} ${edge.to}`}>
                <path class={`edge ${edge.isCycle ? "cycle" : ""}`} d={curve(points)} stroke-width={1.2 + 9 * Math.sqrt(edge.duration / most)} opacity={0.55} marker-end="url(#head)">
                  <title>{duration(edge.duration)}</title>
                </path>
                {edge.duration > most / 200 && <text class="edge-label" x={x} y={y + 4} text-anchor="middle">{duration(edge.duration)}</text>}
              </g>
            );
          })}
        </g>
        {graph.nodes.map((node) => <NodeBox key={node.id} node={node} box={layout.node(node.id)} total={total} onChoose={onChoose} />)}
      </svg>
    </div>
  );
}

function NodeBox({ node, box, total, onChoose }: { node: BlockNode; box: { x: number; y: number; width: number; height: number }; total: number; onChoose: (node: BlockNode) => void }) {
  const says = [node.waits > 0 ? `waits ${percent(share(node.waits, total))}` : "", node.holds > 0 ? `${node.role === "lock" || node.role === "nobody" ? "" : "holds "}${percent(share(node.holds, total))}` : ""];
  const text = says.filter((one) => one !== "").join(", ");
  return (
    <g
      class={`node is-${node.role}`} transform={`translate(${box.x - box.width / 2} ${box.y - box.height / 2})`} tabIndex={0} role="button"
      aria-label={`${node.value.label}: ${text}; only this`} onClick={() => onChoose(node)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onChoose(node);
      }}
    >
      <title>{node.value.long ?? node.value.label}</title>
      <rect width={box.width} height={box.height} rx="6" />
      <text x={box.width / 2} y="17" text-anchor="middle">{shortName(node.value.label)}</text>
      <text x={box.width / 2} y="32" text-anchor="middle" class="edge-label">{text}</text>
    </g>
  );
}

/** A smooth line through the points of an edge. */
function curve(points: Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let path = `M${first.x} ${first.y}`;
  rest.forEach((point, at) => {
    const next = rest[at + 1];
    if (next === undefined) path += `L${point.x} ${point.y}`;
    else path += `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return path;
}

function columns(graph: BlockGraph, total: number): Column<BlockEdge>[] {
  const labels = new Map(graph.nodes.map((node) => [node.id, node.value.label]));
  const code = (id: string) => <span class="code"><CodeName text={labels.get(id)!} /></span>;
  return [
    { name: "Who waits", width: "minmax(110px, 1fr)", text: (edge) => labels.get(edge.from)!, cell: (edge) => code(edge.from), sort: (edge) => labels.get(edge.from)! },
    { name: "For whom", width: "minmax(110px, 1fr)", text: (edge) => labels.get(edge.to)!, cell: (edge) => code(edge.to), sort: (edge) => labels.get(edge.to)! },
    { name: "Blocked", width: "84px", right: true, text: (edge) => duration(edge.duration), sort: (edge) => edge.duration },
    { name: "Share", width: "74px", right: true, optional: 2, text: (edge) => percent(share(edge.duration, total)) },
    { name: "Waits", width: "74px", right: true, optional: 2, text: (edge) => count(edge.waits), sort: (edge) => edge.waits },
    { name: "Cycle", width: "60px", optional: 3, text: (edge) => (edge.isCycle ? "yes" : "") },
  ];
}

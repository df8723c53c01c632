import { useCallback, useMemo, useState } from "preact/hooks";
import { usePage } from "../state/page";
import type { FlameNode } from "../state/flame";
import { place } from "../state/stack";
import { duration, percent, share } from "../text/units";
import { useDrawing, useWidth, type Theme } from "./canvas";

const ROW = 22;
const MAX_DEPTH = 400;
/** In pixels: a row without a rectangle of this width is left out. */
const LEGIBLE = 6;

interface Box {
  node: FlameNode;
  depth: number;
  x: number;
  width: number;
  parent: number;
}

interface Props {
  root: FlameNode;
  label: string;
  /** Deepest row on top: callers stand above what they call. */
  isUpwards?: boolean;
  /** Shows two selections, coloured by the larger one. */
  isDifference?: boolean;
  onFilter?: (node: FlameNode) => void;
}

const weightOf = (node: FlameNode) => node.total + node.other;

/** Lays out the nodes below `top`, those at least half a pixel wide. */
function layOut(top: FlameNode, width: number): Box[] {
  const boxes: Box[] = [];
  const scale = width / Math.max(1, weightOf(top));
  const add = (node: FlameNode, depth: number, x: number, parent: number) => {
    const own = boxes.push({ node, depth, x, width: weightOf(node) * scale, parent }) - 1;
    let left = x;
    for (const child of node.children) {
      const childWidth = weightOf(child) * scale;
      if (childWidth >= 0.5 && depth < MAX_DEPTH) add(child, depth + 1, left, own);
      left += childWidth;
    }
  };
  add(top, 0, 0, -1);
  return boxes;
}

/** Merged stacks; a rectangle's width is time. Click or Enter zooms, arrow keys move. */
export function FlameGraph({ root, label, isUpwards, isDifference, onFilter }: Props) {
  const { address } = usePage();
  const { element, width } = useWidth<HTMLDivElement>();
  const [zoom, setZoom] = useState<string[]>([]);
  const [active, setActive] = useState(0);
  const [tip, setTip] = useState<{ box: Box; x: number; y: number } | null>(null);
  const top = useMemo(() => find(root, zoom), [root, zoom]);
  const boxes = useMemo(() => layOut(top, width), [top, width]);
  // Rows of nothing but slivers are left out: zooming shows them.
  const depth = boxes.reduce((most, box) => (box.width >= LEGIBLE ? Math.max(most, box.depth) : most), 0);
  const height = (depth + 1) * ROW + 1;
  const at = Math.min(active, boxes.length - 1);
  const total = weightOf(root);

  const draw = useCallback(
    (context: CanvasRenderingContext2D, w: number, h: number, theme: Theme) => {
      context.clearRect(0, 0, w, h);
      context.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
      context.textBaseline = "middle";
      boxes.forEach((box, index) => drawBox(context, theme, box, isUpwards ? h - (box.depth + 1) * ROW : box.depth * ROW, index === at, address.search, isDifference ?? false));
    },
    [boxes, at, isUpwards, isDifference, address.search],
  );
  const canvas = useDrawing(width, height, draw);

  const pathTo = (box: Box): string[] => {
    const path: string[] = [];
    for (let index = boxes.indexOf(box); index > 0; index = boxes[index]!.parent) path.unshift(boxes[index]!.node.id);
    return [...zoom, ...path];
  };
  const zoomTo = (box: Box) => {
    setZoom(box.depth === 0 ? zoom.slice(0, -1) : pathTo(box));
    setActive(0);
    setTip(null);
  };
  const boxAt = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const row = Math.floor((isUpwards ? height - y : y) / ROW);
    return boxes.find((box) => box.depth === row && x >= box.x && x < box.x + box.width);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const box = boxes[at];
    if (box === undefined) return;
    const siblings = boxes.filter((one) => one.depth === box.depth);
    const beside = (step: number) => boxes.indexOf(siblings[siblings.indexOf(box) + step] ?? box);
    const child = boxes.findIndex((one) => one.parent === at);
    const [out, inwards] = [Math.max(0, box.parent), child < 0 ? at : child];
    const moves: Record<string, () => void> = {
      ArrowRight: () => setActive(beside(1)),
      ArrowLeft: () => setActive(beside(-1)),
      ArrowDown: () => setActive(isUpwards ? out : inwards),
      ArrowUp: () => setActive(isUpwards ? inwards : out),
      Enter: () => zoomTo(box),
      Backspace: () => setZoom(zoom.slice(0, -1)),
      f: () => onFilter?.(box.node),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  const spoken = tip?.box ?? boxes[at];
  return (
    <div class="figure">
      <div ref={element}>
        {/* A graph that is a control; the table has the same. */}
        { }
        <canvas
          ref={canvas} tabIndex={0} role="img" aria-label={`${label}. ${spoken ? describe(spoken.node, total) : ""}`} data-boxes={JSON.stringify(boxes.slice(0, 200).map((box) => [box.depth, Math.round(box.x), Math.round(box.width), box.node.label]))}
          onKeyDown={onKeyDown}
          onClick={(event) => {
            const box = boxAt(event);
            if (box !== undefined) zoomTo(box);
          }}
          onMouseMove={(event) => {
            const box = boxAt(event);
            setTip(box === undefined ? null : { box, x: event.clientX, y: event.clientY });
          }}
          onMouseLeave={() => setTip(null)}
        />
      </div>
      <p class="caption" aria-live="polite">
        {spoken && describe(spoken.node, total)}
        {zoom.length > 0 && <> <button class="quiet small" onClick={() => setZoom([])}>Zoom out</button></>}
      </p>
      {tip !== null && (
        <div class="tip" style={{ left: `${Math.min(tip.x + 14, innerWidth - 320)}px`, top: `${tip.y + 16}px` }}>
          <b>{tip.box.node.label}</b>{tip.box.node.frame && <>{place(tip.box.node.frame)}<br /></>}{numbers(tip.box.node, total)}
        </div>
      )}
    </div>
  );
}

function find(root: FlameNode, path: string[]): FlameNode {
  let node = root;
  for (const id of path) {
    const child = node.children.find((one) => one.id === id);
    if (child === undefined) return root;
    node = child;
  }
  return node;
}

function numbers(node: FlameNode, total: number): string {
  if (node.other === 0) return `${duration(node.total)}, ${percent(share(node.total, total))}`;
  return `${duration(node.total)} against ${duration(node.other)}`;
}

function describe(node: FlameNode, total: number): string {
  const where = node.frame === null ? "" : ` (${place(node.frame)})`;
  return `${node.label}${where}: ${numbers(node, total)}`;
}

function fillOf(node: FlameNode): string {
  if (node.side === "root") return "--sunken";
  if (node.side === "lock") return "--flame-lock";
  if (node.side === "nobody") return "--free";
  if (node.frame?.jdk) return "--flame-jdk";
  const name = node.frame?.class ?? node.label;
  let hash = 0;
  for (let index = 0; index < name.length; index++) hash = (hash * 31 + name.charCodeAt(index)) >>> 0;
  return `--flame-${node.side}-${(hash % 3) + 1}`;
}

function drawBox(context: CanvasRenderingContext2D, theme: Theme, box: Box, y: number, isActive: boolean, search: string, isDifference: boolean): void {
  const { node, x, width } = box;
  const [left, inner] = [x + 0.5, Math.max(0.5, width - 1)];
  if (isDifference) {
    const change = share(node.total - node.other, weightOf(node));
    context.fillStyle = theme.colour("--same");
    context.fillRect(left, y, inner, ROW - 1);
    context.globalAlpha = Math.min(1, Math.abs(change) * 1.4);
    context.fillStyle = theme.colour(change > 0 ? "--more" : "--less");
    context.fillRect(left, y, inner, ROW - 1);
    context.globalAlpha = 1;
  } else {
    theme.fill(context, { name: fillOf(node), hatch: node.side === "nobody" ? "free" : "none" }, left, y, inner, ROW - 1);
  }
  if (search !== "" && node.label.toLowerCase().includes(search.toLowerCase())) {
    context.fillStyle = theme.colour("--accent");
    context.fillRect(left, y + ROW - 4, inner, 3);
  }
  if (isActive) {
    context.strokeStyle = theme.colour("--accent");
    context.lineWidth = 2;
    context.strokeRect(left + 1, y + 1, Math.max(1, inner - 2), ROW - 3);
  }
  if (width < 34) return;
  context.fillStyle = theme.colour("--flame-ink");
  context.fillText(fit(context, node, width - 8), x + 5, y + ROW / 2);
}

/** The name as far as there is room: with its package, without, or cut. */
function fit(context: CanvasRenderingContext2D, node: FlameNode, room: number): string {
  const short = node.label.replace(/^(?:[a-z_][\w$]*\.)+(?=[A-Z])/, "");
  for (const text of [node.label, short]) if (context.measureText(text).width <= room) return text;
  const letters = Math.floor(room / context.measureText("m").width) - 1;
  return letters < 2 ? "" : `${short.slice(0, letters)}…`;
}

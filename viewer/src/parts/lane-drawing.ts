import type { Lane, LanesAnswer } from "../api/types";
import type { Range } from "../state/address";
import type { OwnerColours } from "../state/colours";
import { stacked } from "../state/timeline";
import type { Drawing, Theme } from "./canvas";

export const LANE = 44;
/** The height of the owners' band. */
const OWNERS = 15;
/** Above: the waiters. */
const WAITERS = LANE - OWNERS - 7;

export interface Scene {
  answer: LanesAnswer;
  /** The visible range; may differ from the range of the answer while the next one is on its
   * way. */
  view: Range;
  byThread: boolean;
  selectedWait: number | null;
  selectedLane: number;
  colours: OwnerColours;
  /** The lane of the selected wait's main owner. */
  arrow: { from: number; to: number; atNs: number } | null;
}

/** Draws all lanes. */
export function drawLanes(context: Drawing, width: number, height: number, theme: Theme, scene: Scene): void {
  context.clearRect(0, 0, width, height);
  const { view } = scene;
  const x = (ns: number) => ((ns - view.from_ns) / (view.to_ns - view.from_ns)) * width;
  scene.answer.lanes.forEach((lane, at) => {
    const y = at * LANE;
    if (at === scene.selectedLane) {
      context.fillStyle = theme.colour("--accent-bg");
      context.fillRect(0, y, width, LANE);
    }
    context.fillStyle = theme.colour("--line");
    context.fillRect(0, y + LANE - 1, width, 1);
    drawOwners(context, theme, scene, lane, y, x);
    if (!scene.byThread) drawWaiters(context, theme, scene, lane, y, x);
    else outlineWaits(context, theme, scene, lane, y, x);
  });
  if (scene.arrow !== null) drawArrow(context, theme, scene.arrow, x);
}

/** All lanes of an answer as they were drawn once, so that moving them costs little. */
export class LanesPicture {
  private canvas: OffscreenCanvas | null = null;
  private drawnOf: unknown[] = [];

  /** Draws the picture where the view has moved, and stretches it, until the next answer is there. */
  draw(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme, scene: Scene): void {
    const { answer, view } = scene;
    const { range } = answer;
    const ratio = devicePixelRatio || 1;
    const wanted = [answer, width, height, ratio, theme, scene.byThread, scene.selectedWait, scene.selectedLane, scene.colours];
    if (this.canvas === null || wanted.some((one, at) => one !== this.drawnOf[at])) {
      this.canvas = new OffscreenCanvas(Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio)));
      this.drawnOf = wanted;
      const own = this.canvas.getContext("2d")!;
      own.scale(ratio, ratio);
      drawLanes(own, width, height, theme, { ...scene, view: range, arrow: null });
    }
    const x = (ns: number) => ((ns - view.from_ns) / (view.to_ns - view.from_ns)) * width;
    context.clearRect(0, 0, width, height);
    context.drawImage(this.canvas, x(range.from_ns), 0, x(range.to_ns) - x(range.from_ns), height);
    if (scene.arrow !== null) drawArrow(context, theme, scene.arrow, x);
  }
}

function bandOf(scene: Scene, y: number): { top: number; height: number } {
  return scene.byThread ? { top: y + 10, height: LANE - 20 } : { top: y + LANE - OWNERS - 3, height: OWNERS };
}

function drawOwners(context: Drawing, theme: Theme, scene: Scene, lane: Lane, y: number, x: (ns: number) => number): void {
  const { values, range } = scene.answer;
  const band = bandOf(scene, y);
  if (lane.mode === "segments") {
    for (const { from_ns, to_ns, owner } of lane.segments) {
      theme.fill(context, scene.colours(values[owner]), x(from_ns), band.top, Math.max(0.6, x(to_ns) - x(from_ns)), band.height);
    }
    return;
  }
  // Below a pixel for each: how the time of that pixel divides, never only the longest.
  const step = (range.to_ns - range.from_ns) / lane.bins.length;
  const full = Math.max(step, ...lane.bins.map((bin) => sumOf(bin)));
  lane.bins.forEach((bin, pixel) => {
    const left = x(range.from_ns + pixel * step);
    const width = Math.max(1, x(range.from_ns + (pixel + 1) * step) - left + 0.3);
    let bottom = band.top + band.height;
    for (let at = 0; at < bin.length; at += 2) {
      const height = (bin[at + 1]! / full) * band.height;
      bottom -= height;
      theme.fill(context, scene.colours(values[bin[at]!]), left, bottom, width, height);
    }
  });
}

function sumOf(bin: number[]): number {
  let sum = 0;
  for (let at = 1; at < bin.length; at += 2) sum += bin[at]!;
  return sum;
}

function drawWaiters(context: Drawing, theme: Theme, scene: Scene, lane: Lane, y: number, x: (ns: number) => number): void {
  const base = y + LANE - OWNERS - 5;
  if (lane.mode === "bins" && lane.waits_at.length === 0) {
    const { range } = scene.answer;
    const step = (range.to_ns - range.from_ns) / lane.waiting_ns.length;
    const most = Math.max(step, ...lane.waiting_ns);
    context.fillStyle = theme.colour("--strip-line");
    lane.waiting_ns.forEach((ns, pixel) => {
      const left = x(range.from_ns + pixel * step);
      const height = (ns / most) * WAITERS;
      context.fillRect(left, base - height, Math.max(1, x(range.from_ns + (pixel + 1) * step) - left), height);
    });
    return;
  }
  const { placed, lines } = stacked(lane);
  const row = Math.max(1, Math.min(5, WAITERS / Math.max(1, lines)));
  for (const wait of placed) {
    const isSelected = wait.id === scene.selectedWait;
    context.fillStyle = theme.colour(isSelected ? "--accent" : "--strip-line");
    context.fillRect(x(wait.from_ns), base - (wait.line + 1) * row, Math.max(1, x(wait.to_ns) - x(wait.from_ns)), Math.max(1, row - 1));
  }
}

function outlineWaits(context: Drawing, theme: Theme, scene: Scene, lane: Lane, y: number, x: (ns: number) => number): void {
  const band = bandOf(scene, y);
  const selected = lane.waits_at.find((wait) => wait.id === scene.selectedWait);
  if (selected === undefined) return;
  context.strokeStyle = theme.colour("--accent");
  context.lineWidth = 2.5;
  context.strokeRect(x(selected.from_ns), band.top - 2, Math.max(3, x(selected.to_ns) - x(selected.from_ns)), band.height + 4);
}

function drawArrow(context: Drawing, theme: Theme, arrow: { from: number; to: number; atNs: number }, x: (ns: number) => number): void {
  const middle = (lane: number) => lane * LANE + LANE / 2;
  const [left, begin, end] = [x(arrow.atNs), middle(arrow.from), middle(arrow.to)];
  const direction = Math.sign(end - begin) || 1;
  context.strokeStyle = context.fillStyle = theme.colour("--accent");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left, begin + direction * 14);
  context.lineTo(left, end - direction * 8);
  context.stroke();
  context.beginPath();
  context.moveTo(left, end);
  context.lineTo(left - 5, end - direction * 9);
  context.lineTo(left + 5, end - direction * 9);
  context.fill();
}

import { useCallback, useRef, useState } from "preact/hooks";
import type { QueryAnswer } from "../api/types";
import { usePage, useQuery, wholeTime } from "../state/page";
import { withRange } from "../state/selection";
import { duration, instant, parseDuration, percent, share } from "../text/units";
import { useDrawing, useWidth, type Theme } from "./canvas";
import { CopyMenu } from "./copy-menu";
import { DataTable, sheetOf, type Column } from "./data-table";

const BUCKETS = 400;
const HEIGHT = 64;
/** Below the curve: when anybody waited. */
const WALL = 7;

interface Drag {
  from: number;
  to: number;
  isOther: boolean;
}

/** All of the time: how many threads were blocked, when anybody waited, and the range that all views are about. */
export function Strip() {
  const { model, address, go, freeze } = usePage();
  const { element, width } = useWidth<HTMLDivElement>();
  const [drag, setDrag] = useState<Drag | null>(null);
  const [isTable, setTable] = useState(false);
  const { answer } = useQuery({ selection: wholeTime(address.selection), by: [], buckets: BUCKETS });
  const total = model.duration_ns;
  const { from_ns = 0, to_ns = total } = address.selection;
  const range = drag !== null && !drag.isOther ? { from_ns: Math.min(drag.from, drag.to), to_ns: Math.max(drag.from, drag.to) } : { from_ns, to_ns };
  const other = drag?.isOther ? { from_ns: Math.min(drag.from, drag.to), to_ns: Math.max(drag.from, drag.to) } : address.other;
  const isWhole = range.from_ns === 0 && range.to_ns === total;

  const draw = useCallback(
    (context: CanvasRenderingContext2D, w: number, h: number, theme: Theme) => {
      if (answer !== null) drawStrip(context, w, h, theme, answer);
      const x = (ns: number) => (ns / total) * w;
      if (other) shade(context, theme, "--owner", x(other.from_ns), x(other.to_ns), h);
      if (!isWhole) shade(context, theme, "--accent", x(range.from_ns), x(range.to_ns), h);
    },
    [answer, range.from_ns, range.to_ns, other?.from_ns, other?.to_ns, isWhole, total],
  );
  const canvas = useDrawing(width, HEIGHT, draw);
  const begin = useRef<number | null>(null);
  const at = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * total;
  };
  const select = (from: number, to: number) => go({ selection: withRange(address.selection, from, to, total) });

  const onPointerDown = (event: PointerEvent) => {
    freeze(true);
    begin.current = at(event);
    canvas.current!.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (begin.current !== null) setDrag({ from: begin.current, to: at(event), isOther: event.shiftKey });
  };
  const onPointerUp = () => {
    begin.current = null;
    freeze(false);
    if (drag === null) return;
    const [from, to] = [Math.floor(Math.min(drag.from, drag.to)), Math.ceil(Math.max(drag.from, drag.to))];
    setDrag(null);
    if (to - from < (total / Math.max(1, width)) * 3) return;
    if (drag.isOther) go({ other: { from_ns: from, to_ns: to }, view: "compare" });
    else select(from, to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = (range.to_ns - range.from_ns) / 8;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-step, -step], ArrowRight: [step, step], "+": [step, -step], "=": [step, -step], "-": [-step, step],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const span = range.to_ns - range.from_ns + move[1] - move[0];
    const from = Math.max(0, Math.min(total - span, range.from_ns + move[0]));
    select(from, from + span);
  };

  const resolution = total / 2_000;
  const wall = answer?.groups[0]?.wall_ns ?? 0;
  return (
    <div class="strip-area">
      <div class="strip" ref={element}>
        {/* A graph that is a control: the two fields below do the same. */}
        { }
        <canvas
          ref={canvas} tabIndex={0} role="img"
          aria-label={`Blocked threads over ${duration(total)}; in ${percent(share(wall, answer?.time_ns ?? total))} of the time at least one thread waited. Arrow keys move the range, plus and minus change it.`}
          onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp} onPointerCancel={onPointerUp} onDblClick={() => select(0, total)} onKeyDown={onKeyDown}
        />
      </div>
      <div class="range">
        <span>Blocked threads over time, at most {mostThreads(answer)}</span>
        <TimeField name="from" value={range.from_ns} resolution={resolution} onChange={(ns) => select(ns, to_ns)} />
        <TimeField name="to" value={range.to_ns} resolution={resolution} onChange={(ns) => select(from_ns, ns)} />
        <span>{isWhole ? "everything" : `${duration(range.to_ns - range.from_ns)} of ${duration(total)}`}</span>
        {!isWhole && <button onClick={() => select(0, total)}>All of the time</button>}
        <span class="fill" />
        <button aria-pressed={isTable} onClick={() => setTable(!isTable)}>Table</button>
        {isTable && answer && <CopyMenu what="blocked threads over time" sheet={() => sheetOf("Blocked threads over time", stripColumns(total), stripRows(answer))} />}
      </div>
      {isTable && answer && <DataTable label="Blocked threads over time" columns={stripColumns(total)} rows={stripRows(answer)} onChoose={(row) => select(row.from, row.to)} />}
    </div>
  );
}

function TimeField({ name, value, resolution, onChange }: { name: string; value: number; resolution: number; onChange: (ns: number) => void }) {
  return (
    <label>
      {name}{" "}
      <input
        type="text" inputMode="decimal" value={instant(value, resolution)}
        onChange={(event) => {
          const ns = parseDuration(event.currentTarget.value.replace(/\u00a0/g, " "));
          if (ns === null) event.currentTarget.value = instant(value, resolution);
          else onChange(ns);
        }}
      />
    </label>
  );
}

function drawStrip(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme, answer: QueryAnswer): void {
  context.clearRect(0, 0, width, height);
  const total = answer.groups.find((group) => group.path.length === 0)!;
  const series = total.series ?? [];
  const most = Math.max(1, ...series);
  const room = height - WALL - 6;
  const step = width / Math.max(1, series.length);
  context.beginPath();
  context.moveTo(0, room + 3);
  series.forEach((value, at) => {
    const y = 3 + room * (1 - value / most);
    context.lineTo(at * step, y);
    context.lineTo((at + 1) * step, y);
  });
  context.lineTo(width, room + 3);
  context.fillStyle = theme.colour("--strip");
  context.fill();
  context.strokeStyle = theme.colour("--strip-line");
  context.stroke();
  const bucket = (answer.range.to_ns - answer.range.from_ns) / Math.max(1, series.length);
  context.fillStyle = theme.colour("--wall");
  total.wall_series?.forEach((value, at) => {
    context.globalAlpha = value / bucket;
    context.fillRect(at * step, height - WALL, step + 0.5, WALL);
  });
  context.globalAlpha = 1;
}

function shade(context: CanvasRenderingContext2D, theme: Theme, name: string, from: number, to: number, height: number): void {
  const colour = theme.colour(name);
  context.globalAlpha = 0.16;
  context.fillStyle = colour;
  context.fillRect(from, 0, Math.max(1, to - from), height);
  context.globalAlpha = 1;
  context.fillRect(from, 0, 2, height);
  context.fillRect(to - 2, 0, 2, height);
}

/** The highest point of the curve. */
function mostThreads(answer: QueryAnswer | null): string {
  const series = answer?.groups.find((group) => group.path.length === 0)?.series ?? [];
  if (answer === null || series.length === 0) return "…";
  return (Math.max(...series) / ((answer.range.to_ns - answer.range.from_ns) / series.length)).toFixed(1);
}

interface StripRow {
  from: number;
  to: number;
  threads: number;
  wall: number;
  blocked: number;
}

/** The strip in forty rows. */
function stripRows(answer: QueryAnswer): StripRow[] {
  const total = answer.groups.find((group) => group.path.length === 0)!;
  const each = BUCKETS / 40;
  const width = (answer.range.to_ns - answer.range.from_ns) / 40;
  const sum = (series: number[] | undefined, at: number) => (series ?? []).slice(at * each, (at + 1) * each).reduce((a, b) => a + b, 0);
  return Array.from({ length: 40 }, (_, at) => {
    const blocked = sum(total.series, at);
    return {
      from: answer.range.from_ns + at * width, to: answer.range.from_ns + (at + 1) * width,
      blocked, threads: blocked / Math.max(1, width), wall: share(sum(total.wall_series, at), width),
    };
  });
}

function stripColumns(total: number): Column<StripRow>[] {
  const time = (ns: number) => instant(ns, total / 2_000);
  return [
    { name: "From", width: "1fr", right: true, text: (row) => time(row.from), sort: (row) => row.from },
    { name: "To", width: "1fr", right: true, text: (row) => time(row.to), optional: 2 },
    { name: "Blocked", width: "1fr", right: true, text: (row) => duration(row.blocked), sort: (row) => row.blocked },
    { name: "Threads", width: "1fr", right: true, text: (row) => row.threads.toFixed(1), sort: (row) => row.threads },
    { name: "Anybody waited", width: "1fr", right: true, text: (row) => percent(row.wall), sort: (row) => row.wall },
  ];
}

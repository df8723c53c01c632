import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Lane, LaneAspect, LanesAnswer } from "../api/types";
import { useDrawing, useWidth, type Theme } from "../parts/canvas";
import { CodeName, MiddleCut, shortLabel } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { DataTable, sheetOf, type Column } from "../parts/data-table";
import { drawLanes, LANE, LanesPicture, type Scene } from "../parts/lane-drawing";
import { OwnerLegend } from "../parts/owner-legend";
import { useWait, WaitDetail } from "../parts/wait-detail";
import type { Range } from "../state/address";
import { useAnswer } from "../state/answer";
import { usePage, useQuery } from "../state/page";
import { safepointQuery } from "../state/questions";
import { narrow, withRange } from "../state/selection";
import { moved, ownersOf, rangeSeen, waitAt, zoomed } from "../state/timeline";
import { count, duration, instant, percent, plural, share } from "../text/units";

const MODES: [LaneAspect, string][] = [["lock", "By lock"], ["lock-class", "By lock class"], ["thread", "By thread"]];
const SAFEPOINTS = 22;
const AXIS = 20;
/** After the last key or turn of the wheel, before the lanes are asked for again. */
const SETTLE_MS = 120;

/** Lanes over time: the owners of each lock while others waited, or of the locks that each
 * thread waited for. */
export function TimelineView() {
  const { model, address, go, say } = usePage();
  const { lanes: by } = address;
  const [limit, setLimit] = useState(20);
  const [isTable, setTable] = useState(false);
  const { element, width } = useWidth<HTMLDivElement>();
  // While zooming, what is seen runs ahead of what is asked.
  const [ahead, setAhead] = useState<Range | null>(null);
  const settle = useRef(0);
  const view = ahead ?? rangeSeen(address.selection, model.duration_ns);
  const px = Math.max(50, Math.min(2_000, width));
  const request = { selection: address.selection, by, px, limit };
  const { answer, isLoading, error } = useAnswer(width === 0 ? null : JSON.stringify(request), (store, signal) => store.lanes(request, signal));
  const safepoints = useQuery(safepointQuery(address.selection));
  const wait = useWait(address.wait);
  const history = useRef<number[]>([]);

  const see = (range: Range) => {
    setAhead(range);
    clearTimeout(settle.current);
    settle.current = setTimeout(() => {
      setAhead(null);
      go({ selection: withRange(address.selection, range.from_ns, range.to_ns, model.duration_ns) }, { replace: true });
    }, SETTLE_MS) as unknown as number;
  };
  useEffect(() => () => clearTimeout(settle.current), []);

  const follow = () => {
    const next = wait.answer?.owner_waits[0];
    if (address.wait === null || wait.answer === null) return say("Select a wait first");
    if (next === undefined) return say(`${ownerName(wait.answer) ?? "The owner"} was not waiting then`);
    history.current.push(address.wait);
    go({ wait: next.id, lanes: "thread" }, { replace: true });
  };
  const comeBack = () => {
    const last = history.current.pop();
    if (last === undefined) say("Nothing to come back to");
    else go({ wait: last }, { replace: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (view.from_ns + view.to_ns) / 2;
    const actions: Record<string, () => void> = {
      w: () => see(zoomed(view, middle, 0.7, model.duration_ns)), s: () => see(zoomed(view, middle, 1 / 0.7, model.duration_ns)),
      a: () => see(moved(view, -0.2, model.duration_ns)), d: () => see(moved(view, 0.2, model.duration_ns)),
      f: () => see({ from_ns: 0, to_ns: model.duration_ns }), "]": follow, "[": comeBack,
    };
    const action = actions[event.key];
    if (action === undefined || (event.target as HTMLElement).closest("input, select, dialog")) return;
    event.preventDefault();
    action();
  };
  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  });

  const owners = useMemo(() => (answer === null ? [] : legendValues(answer)), [answer]);
  return (
    <>
      <div class="toolbar" ref={element}>
        <div class="segmented" role="group" aria-label="Lanes">
          {MODES.map(([name, title]) => <button key={name} aria-pressed={by === name} onClick={() => go({ lanes: name })}>{title}</button>)}
        </div>
        <div class="segmented" role="group" aria-label="Zoom and move">
          <button aria-label="Zoom in" title="w" onClick={() => see(zoomed(view, (view.from_ns + view.to_ns) / 2, 0.5, model.duration_ns))}>+</button>
          <button aria-label="Zoom out" title="s" onClick={() => see(zoomed(view, (view.from_ns + view.to_ns) / 2, 2, model.duration_ns))}>−</button>
          <button aria-label="Earlier" title="a" onClick={() => see(moved(view, -0.25, model.duration_ns))}>←</button>
          <button aria-label="Later" title="d" onClick={() => see(moved(view, 0.25, model.duration_ns))}>→</button>
        </div>
        <span class="dim small">{by === "thread" ? "Waits by owner; a gap: the thread did not wait" : "Below: who had the lock; above: who waited; a gap: nobody waited"}</span>
        <span class="fill" />
        <button aria-pressed={isTable} onClick={() => setTable(!isTable)}>Table</button>
        {answer !== null && <CopyMenu what="the lanes" sheet={() => sheetOf("Lanes", columns(answer), answer.lanes)} />}
      </div>
      {error !== null && <p class="notice bad">{error}</p>}
      <OwnerLegend values={owners} />
      {answer !== null && (answer.lanes.length === 0 ? <p class="empty card">No thread waited here.</p> : isTable ? (
        <DataTable label="Lanes" columns={columns(answer)} rows={answer.lanes} sortedBy={1} onChoose={(lane) => go({ selection: narrow(address.selection, by, answer.values[lane.value]!.key) })} />
      ) : (
        <Lanes answer={answer} view={view} by={by} safepoints={safepoints.answer?.groups[0]?.safepoint_series ?? []} wait={wait.answer} isLoading={isLoading} onSee={see} />
      ))}
      {answer !== null && answer.omitted.lanes > 0 && (
        <p class="row dim"><span>and {plural(answer.omitted.lanes, "more lane")}, {duration(answer.omitted.duration_ns)} in all</span><button onClick={() => setLimit(Math.min(200, limit * 2))}>Show more</button></p>
      )}
      {address.wait !== null && <WaitDetail key={address.wait} state={wait} onClose={() => go({ wait: null }, { replace: true })} />}
    </>
  );
}

type WaitAnswer = NonNullable<ReturnType<typeof useWait>["answer"]>;

function ownerName(answer: WaitAnswer): string | null {
  const [first] = answer.wait.shares;
  return first === undefined ? null : answer.values[first.thread]!.label;
}

interface LanesProps {
  answer: LanesAnswer;
  view: Range;
  by: LaneAspect;
  safepoints: number[];
  wait: WaitAnswer | null;
  isLoading: boolean;
  onSee: (range: Range) => void;
}

function Lanes({ answer, view, by, safepoints, wait, isLoading, onSee }: LanesProps) {
  const { model, address, go, freeze, colours } = usePage();
  const { element, width } = useWidth<HTMLDivElement>();
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const picture = useRef(new LanesPicture());
  const [tip, setTip] = useState<{ text: string[]; x: number; y: number } | null>(null);
  const hasSafepoints = safepoints.some((ns) => ns > 0);
  const top = AXIS + (hasSafepoints ? SAFEPOINTS : 0);
  const height = top + answer.lanes.length * LANE;
  const keyOf = (lane: Lane) => answer.values[lane.value]!.key;
  const laneOf = (key: string | undefined) => answer.lanes.findIndex((lane) => keyOf(lane) === key);
  const selected = wait === null ? -1 : laneOf(wait.values[by === "thread" ? wait.wait.thread : wait.wait.lock]!.key);
  const owner = wait === null || by !== "thread" ? -1 : laneOf(wait.values[wait.wait.shares[0]!.thread]!.key);
  const scene: Scene = {
    answer, view, byThread: by === "thread", selectedWait: address.wait, selectedLane: selected, colours,
    arrow: wait !== null && selected >= 0 && owner >= 0 && owner !== selected ? { from: selected, to: owner, atNs: wait.wait.start_ns + wait.wait.duration_ns / 2 } : null,
  };

  const draw = useCallback(
    (context: CanvasRenderingContext2D, w: number, h: number, theme: Theme) => {
      context.save();
      context.translate(0, top);
      if (view.from_ns === answer.range.from_ns && view.to_ns === answer.range.to_ns) drawLanes(context, w, h - top, theme, scene);
      else picture.current.draw(context, w, h - top, theme, scene);
      context.restore();
      drawAxis(context, w, theme, view);
      if (hasSafepoints) drawSafepoints(context, w, theme, safepoints, answer.range, view);
      if (drag !== null) {
        context.globalAlpha = 0.18;
        context.fillStyle = theme.colour("--accent");
        context.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), h);
        context.globalAlpha = 1;
      }
    },
    [answer, view.from_ns, view.to_ns, selected, owner, address.wait, colours, drag?.from, drag?.to, safepoints, top],
  );
  const canvas = useDrawing(width, height, draw);

  const at = (event: MouseEvent) => {
    const bounds = canvas.current!.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const index = Math.floor((event.clientY - bounds.top - top) / LANE);
    return { x, index, lane: answer.lanes[index], ns: view.from_ns + (x / bounds.width) * (view.to_ns - view.from_ns), tolerance: (2 / bounds.width) * (view.to_ns - view.from_ns) };
  };
  const onPointerUp = (event: PointerEvent) => {
    freeze(false);
    if (drag === null) return;
    setDrag(null);
    if (Math.abs(drag.to - drag.from) > 4) {
      const time = (x: number) => view.from_ns + (x / width) * (view.to_ns - view.from_ns);
      const [from, to] = [time(Math.min(drag.from, drag.to)), time(Math.max(drag.from, drag.to))];
      if (event.shiftKey) go({ other: { from_ns: Math.floor(from), to_ns: Math.ceil(to) }, view: "compare" });
      else go({ selection: withRange(address.selection, from, to, model.duration_ns) });
      return;
    }
    const { lane, ns, tolerance } = at(event);
    const id = lane === undefined ? null : waitAt(lane, ns, tolerance);
    if (id !== null) go({ wait: id }, { replace: address.wait !== null });
  };

  return (
    <div class={`figure ${isLoading ? "loading" : ""}`}>
      <div class="lanes">
        <ul class="names">
          <li style={{ height: `${AXIS}px` }} aria-hidden="true" />
          {hasSafepoints && <li style={{ height: `${SAFEPOINTS}px` }}><small title="The trace tells how much of each wait was in safepoints, not when: it is spread over the wait">in safepoints</small></li>}
          {answer.lanes.map((lane) => {
            const value = answer.values[lane.value]!;
            return (
              <li key={value.key} style={{ height: `${LANE}px` }}>
                <button title={value.long ?? value.label} onClick={() => go({ selection: narrow(address.selection, by, value.key) })}><MiddleCut text={shortLabel(value.label)} /></button>
                <small>{duration(lane.duration_ns)} · {plural(lane.waits, "wait")}</small>
              </li>
            );
          })}
        </ul>
        <div ref={element}>
          {/* Pointers have a canvas here; the table and the keys do the same. */}
          { }
          <canvas
            ref={canvas} role="img" aria-label={`${plural(answer.lanes.length, "lane")} from ${instant(view.from_ns, 1_000)} to ${instant(view.to_ns, 1_000)}; the table says the same in words`}
            data-lanes={JSON.stringify(answer.lanes.map((lane) => [keyOf(lane), lane.mode, lane.duration_ns]))}
            onPointerDown={(event) => {
              canvas.current!.setPointerCapture(event.pointerId);
              freeze(true);
              const { x } = at(event);
              setDrag({ from: x, to: x });
            }}
            onPointerMove={(event) => {
              const { x, lane, ns, tolerance } = at(event);
              if (drag !== null) setDrag({ ...drag, to: Math.max(0, Math.min(width, x)) });
              else setTip(lane === undefined ? null : { text: describe(answer, lane, ns, tolerance), x: event.clientX, y: event.clientY });
            }}
            onPointerUp={onPointerUp}
            onPointerCancel={onPointerUp}
            onPointerLeave={() => setTip(null)}
            onWheel={(event) => {
              if (!event.ctrlKey && !event.shiftKey) return;
              event.preventDefault();
              if (event.shiftKey) onSee(moved(view, Math.sign(event.deltaY || event.deltaX) * 0.1, model.duration_ns));
              else onSee(zoomed(view, at(event).ns, event.deltaY > 0 ? 1.25 : 0.8, model.duration_ns));
            }}
          />
        </div>
      </div>
      {tip !== null && drag === null && tip.text.length > 0 && (
        <div class="tip" style={{ left: `${Math.min(tip.x + 14, innerWidth - 320)}px`, top: `${tip.y + 16}px` }}>
          {tip.text.map((line, index) => (index === 0 ? <b key={index}>{line}</b> : <div key={index}>{line}</div>))}
        </div>
      )}
    </div>
  );
}

function describe(answer: LanesAnswer, lane: Lane, ns: number, tolerance: number): string[] {
  const name = (at: number) => answer.values[at]!.label;
  const text = [name(lane.value)];
  if (lane.mode === "segments") {
    const segment = lane.segments.find((one) => one.from_ns <= ns && ns < one.to_ns);
    if (segment !== undefined) text.push(`owner: ${name(segment.owner)}, ${duration(segment.to_ns - segment.from_ns)}`);
  } else {
    const { range } = answer;
    const bin = lane.bins[Math.floor(((ns - range.from_ns) / (range.to_ns - range.from_ns)) * lane.bins.length)] ?? [];
    for (let at = 0; at < Math.min(6, bin.length); at += 2) text.push(`${name(bin[at]!)} ${duration(bin[at + 1]!)}`);
  }
  const waiting = lane.waits_at.filter((wait) => wait.from_ns - tolerance <= ns && ns <= wait.to_ns + tolerance);
  waiting.slice(0, 6).forEach((wait) => text.push(`${name(wait.thread)} waits ${duration(wait.to_ns - wait.from_ns)}`));
  if (waiting.length > 6) text.push(`and ${waiting.length - 6} more`);
  return text.length > 1 ? text : [];
}

function drawAxis(context: CanvasRenderingContext2D, width: number, theme: Theme, view: Range): void {
  const length = view.to_ns - view.from_ns;
  const rough = length / Math.max(2, width / 130);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  context.fillStyle = theme.colour("--ink-2");
  context.font = "11px system-ui, sans-serif";
  for (let ns = Math.ceil(view.from_ns / step) * step; ns <= view.to_ns; ns += step) {
    const x = ((ns - view.from_ns) / length) * width;
    context.fillRect(x, 14, 1, 5);
    if (x < width - 60) context.fillText(instant(ns, step), x + 4, 14);
  }
}

function drawSafepoints(context: CanvasRenderingContext2D, width: number, theme: Theme, series: number[], range: Range, view: Range): void {
  const step = (range.to_ns - range.from_ns) / series.length;
  const most = Math.max(1, ...series);
  context.fillStyle = theme.colour("--lock");
  series.forEach((ns, at) => {
    const x = (time: number) => ((time - view.from_ns) / (view.to_ns - view.from_ns)) * width;
    const left = x(range.from_ns + at * step);
    const height = (ns / most) * (SAFEPOINTS - 6);
    context.fillRect(left, AXIS + SAFEPOINTS - 3 - height, Math.max(1, x(range.from_ns + (at + 1) * step) - left), height);
  });
}

function legendValues(answer: LanesAnswer): LanesAnswer["values"] {
  const owners = new Set(answer.lanes.flatMap((lane) => ownersOf(answer, lane).map(({ owner }) => owner)));
  return answer.values.filter((_, at) => owners.has(at));
}

function columns(answer: LanesAnswer): Column<Lane>[] {
  const total = answer.lanes.reduce((sum, lane) => sum + lane.duration_ns, 0);
  const owners = (lane: Lane) => {
    const all = ownersOf(answer, lane);
    const sum = all.reduce((time, one) => time + one.ns, 0);
    return all.slice(0, 4).map(({ owner, ns }) => `${answer.values[owner]!.label} ${percent(share(ns, sum))}`).join(", ");
  };
  return [
    { name: "Lane", width: "minmax(120px, 1fr)", text: (lane) => answer.values[lane.value]!.label, cell: (lane) => <span class="code"><CodeName text={answer.values[lane.value]!.label} /></span>, sort: (lane) => answer.values[lane.value]!.label },
    { name: "Blocked", width: "84px", right: true, text: (lane) => duration(lane.duration_ns), sort: (lane) => lane.duration_ns },
    { name: "Share", width: "74px", right: true, optional: 2, text: (lane) => percent(share(lane.duration_ns, total)) },
    { name: "Waits", width: "70px", right: true, text: (lane) => count(lane.waits), sort: (lane) => lane.waits },
    { name: "Owners", width: "minmax(120px, 1.6fr)", optional: 2, text: owners },
  ];
}


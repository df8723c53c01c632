import { useEffect, useState } from "preact/hooks";
import type { HistogramAnswer, HistogramBucket, Wait, WaitsAnswer } from "../api/types";
import { Marked, MiddleCut, shortLabel } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { DataTable, sheetOf, type Column } from "../parts/data-table";
import { OwnerLegend } from "../parts/owner-legend";
import { SplitBar, splitText } from "../parts/split-bar";
import { useWait, WaitDetail } from "../parts/wait-detail";
import { useAnswer } from "../state/answer";
import { usePage } from "../state/page";
import { count, duration, instant, percent, plural, share } from "../text/units";

const LIMIT = 500;

/** The durations of the waits, each of them, and one of them in full. */
export function WaitsView() {
  const { address, go } = usePage();
  const { selection, sort } = address;
  const key = JSON.stringify({ selection, sort });
  const histogram = useAnswer(JSON.stringify(selection), (store, signal) => store.histogram({ selection }, signal));
  const { answer, isLoading, error } = useAnswer(key, (store, signal) => store.waits({ selection, sort, limit: LIMIT, cursor: null }, signal));
  const [more, setMore] = useState<{ key: string; pages: WaitsAnswer[] }>({ key, pages: [] });
  const { store, model } = usePage();
  const wait = useWait(address.wait);
  const pages = answer === null ? [] : [answer, ...(more.key === key ? more.pages : [])];
  const rows = pages.flatMap((page) => page.waits.map((one): Row => ({ wait: one, page })));
  const last = pages[pages.length - 1];
  const load = async () => {
    if (last === undefined || last.cursor === null) return;
    const page = await store.waits({ selection, sort, limit: LIMIT, cursor: last.cursor });
    setMore((before) => ({ key, pages: [...(before.key === key ? before.pages : []), page] }));
  };
  useEffect(() => {
    if (address.wait !== null) document.querySelector(".wait-panel")?.scrollIntoView({ block: "nearest" });
  }, [address.wait]);

  return (
    <>
      {histogram.answer !== null && <Histogram answer={histogram.answer} isLoading={histogram.isLoading} />}
      {error !== null && <p class="notice bad">{error}</p>}
      <div class="toolbar">
        <h2>{last ? plural(last.total, "single wait") : "Single waits"}</h2>
        <div class="segmented" role="group" aria-label="Order of waits">
          <button aria-pressed={sort === "duration"} onClick={() => go({ sort: "duration" }, { replace: true })}>Longest first</button>
          <button aria-pressed={sort === "start"} onClick={() => go({ sort: "start" }, { replace: true })}>In order of time</button>
        </div>
        <span class="fill" />
        {rows.length > 0 && <CopyMenu what="the waits" sheet={() => sheetOf("Waits", columns(model.duration_ns), rows)} />}
      </div>
      {last && last.folded > 0 && <p class="notice">{plural(last.folded, "short wait")} more are known as sums only: they are in the distribution, not in this list.</p>}
      {answer !== null && <OwnerLegend values={answer.values.filter((_, at) => answer.waits.some((one) => one.shares.some((part) => part.thread === at)))} />}
      <div class={address.wait === null ? "" : "with-side"}>
        <div>
          {answer !== null && <DataTable label="Waits" columns={columns(model.duration_ns)} rows={rows} isLoading={isLoading} isChosen={address.wait === null ? undefined : (row) => row.wait.id === address.wait} onChoose={(row) => go({ wait: row.wait.id }, { replace: address.wait !== null })} />}
          {last !== undefined && last.cursor !== null && <p class="row"><button onClick={() => void load()}>Show {count(Math.min(LIMIT, last.total - rows.length))} more of {count(last.total - rows.length)}</button></p>}
        </div>
        {address.wait !== null && <div class="side wait-panel"><WaitDetail key={address.wait} state={wait} onClose={() => go({ wait: null })} /></div>}
      </div>
    </>
  );
}

interface Row {
  wait: Wait;
  page: WaitsAnswer;
}

function columns(total: number): Column<Row>[] {
  const name = (row: Row, at: number) => row.page.values[at]!.label;
  return [
    { name: "Took", width: "80px", right: true, text: (row) => duration(row.wait.selected_ns) },
    { name: "At", width: "86px", right: true, optional: 2, text: (row) => instant(row.wait.start_ns, total / 10_000) },
    { name: "Thread", width: "minmax(70px, .7fr)", text: (row) => name(row, row.wait.thread), cell: (row) => <MiddleCut text={name(row, row.wait.thread)} /> },
    { name: "Blocked in", width: "minmax(110px, 1.3fr)", text: (row) => name(row, row.wait.method), cell: (row) => <span class="code"><Marked text={shortLabel(name(row, row.wait.method))} /></span> },
    { name: "Lock", width: "minmax(90px, 1fr)", optional: 3, text: (row) => name(row, row.wait.lock), cell: (row) => <span class="code"><Marked text={shortLabel(name(row, row.wait.lock))} /></span> },
    { name: "Owners", width: "minmax(60px, .9fr)", optional: 2, text: (row) => splitText(row.wait, row.page.values), cell: (row) => <SplitBar wait={row.wait} values={row.page.values} /> },
  ];
}

/** Two neighbouring buckets to a bar where there are many. */
function barsOf(buckets: HistogramBucket[]): HistogramBucket[] {
  const [first, last] = [buckets[0], buckets[buckets.length - 1]];
  if (first === undefined || last === undefined) return [];
  const octaves = Math.log2(Math.max(1, last.to_ns) / Math.max(1, first.from_ns));
  const perOctave = octaves > 12 ? 4 : octaves > 6 ? 8 : 16;
  const step = (at: number) => Math.max(1, first.from_ns) * 2 ** (at / perOctave);
  const bars: HistogramBucket[] = [];
  let next = 0;
  for (let at = 0; step(at) < last.to_ns && at < 400; at++) {
    const bar = { from_ns: Math.floor(step(at)), to_ns: Math.ceil(step(at + 1)), waits: 0, duration_ns: 0 };
    for (; next < buckets.length && buckets[next]!.from_ns < step(at + 1); next++) {
      bar.waits += buckets[next]!.waits;
      bar.duration_ns += buckets[next]!.duration_ns;
    }
    bars.push(bar);
  }
  return bars;
}

function Histogram({ answer, isLoading }: { answer: HistogramAnswer; isLoading: boolean }) {
  const { address, go } = usePage();
  const [isTime, setTime] = useState(false);
  const [isTable, setTable] = useState(false);
  const bars = barsOf(answer.buckets);
  const size = (bar: HistogramBucket) => (isTime ? bar.duration_ns : bar.waits);
  const most = Math.max(1, ...bars.map(size));
  const { min_ns, max_ns } = address.selection;
  const choose = (bar: HistogramBucket) => go({ selection: { ...address.selection, min_ns: bar.from_ns, max_ns: bar.to_ns } });
  const ticks = ticksOf(bars);
  if (answer.waits === 0) return <p class="empty card">No thread waited here.</p>;
  const longest = bars.reduce((sum, bar) => (bar.from_ns >= answer.p90_ns ? sum + bar.duration_ns : sum), 0);
  const rows = answer.buckets;
  return (
    <section class={`figure ${isLoading ? "loading" : ""}`} aria-label="How long the waits were">
      <div class="toolbar">
        <h2>How long the waits were</h2>
        <div class="segmented" role="group" aria-label="Height of the bars">
          <button aria-pressed={!isTime} onClick={() => setTime(false)}>Waits</button>
          <button aria-pressed={isTime} onClick={() => setTime(true)}>Blocked time</button>
        </div>
        {(min_ns !== undefined || max_ns !== undefined) && <button onClick={() => {
          const { min_ns: _min, max_ns: _max, ...rest } = address.selection;
          go({ selection: rest });
        }}>All durations</button>}
        <span class="fill" />
        <button aria-pressed={isTable} onClick={() => setTable(!isTable)}>Table</button>
        <CopyMenu what="the distribution" sheet={() => sheetOf("How long the waits were", BUCKET_COLUMNS, rows)} />
      </div>
      <dl class="facts">
        {([["Half at most", answer.p50_ns], ["90 % at most", answer.p90_ns], ["99 % at most", answer.p99_ns], ["Longest", answer.max_ns]] as const).map(([name, ns]) => <div key={name}><dt>{name}</dt><dd>{duration(ns)}</dd></div>)}
        <div><dt>The longest tenth has</dt><dd>{percent(Math.min(1, share(longest, answer.duration_ns)))} of the time: {share(longest, answer.duration_ns) > 0.5 ? "few long waits" : "many short waits"}</dd></div>
      </dl>
      {isTable ? <DataTable label="Distribution" columns={BUCKET_COLUMNS} rows={rows} onChoose={choose} /> : (
        <>
          <div class="histogram" role="group" aria-label="Distribution; each bar selects its waits">
            {bars.map((bar) => (
              <button
                key={bar.from_ns} disabled={bar.waits === 0} onClick={() => choose(bar)} title={`${duration(bar.from_ns)} to ${duration(bar.to_ns)}: ${plural(bar.waits, "wait")}, ${duration(bar.duration_ns)}`}
                aria-label={`${duration(bar.from_ns)} to ${duration(bar.to_ns)}: ${plural(bar.waits, "wait")}, ${duration(bar.duration_ns)}`}
              >
                <i style={{ height: bar.waits === 0 ? "0" : `max(2px, ${(size(bar) / most) * 100}%)` }} />
              </button>
            ))}
          </div>
          <div class="axis" aria-hidden="true">{ticks.map((tick) => <span key={tick.ns} style={{ left: `${tick.at * 100}%` }}>{duration(tick.ns)}</span>)}</div>
        </>
      )}
    </section>
  );
}

/** Round durations on the logarithmic axis. */
function ticksOf(bars: HistogramBucket[]): { ns: number; at: number }[] {
  const [first, last] = [bars[0], bars[bars.length - 1]];
  if (first === undefined || last === undefined) return [];
  const [low, high] = [Math.log10(Math.max(1, first.from_ns)), Math.log10(last.to_ns)];
  const ticks: { ns: number; at: number }[] = [];
  for (let power = Math.ceil(low); power <= high; power++) ticks.push({ ns: 10 ** power, at: (power - low) / (high - low) });
  return ticks.filter((tick) => tick.at > 0.02 && tick.at < 0.98);
}

const BUCKET_COLUMNS: Column<HistogramBucket>[] = [
  { name: "From", width: "1fr", right: true, text: (row) => duration(row.from_ns), sort: (row) => row.from_ns },
  { name: "To", width: "1fr", right: true, optional: 2, text: (row) => duration(row.to_ns), sort: (row) => row.to_ns },
  { name: "Waits", width: "1fr", right: true, text: (row) => count(row.waits), sort: (row) => row.waits },
  { name: "Blocked", width: "1fr", right: true, text: (row) => duration(row.duration_ns), sort: (row) => row.duration_ns },
];

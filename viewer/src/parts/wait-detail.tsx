import { useState } from "preact/hooks";
import type { Frame, OtherWait, Share, Value, WaitAnswer } from "../api/types";
import { useAnswer } from "../state/answer";
import { usePage } from "../state/page";
import { place } from "../state/stack";
import type { Sheet } from "../text/sheet";
import { duration, instant, percent, plural, share } from "../text/units";
import { CodeName, Marked, MiddleCut, shortLabel } from "./code-name";
import { CopyMenu } from "./copy-menu";
import { DataTable, type Column } from "./data-table";
import { FrameDetail } from "./frame-detail";
import { CloseIcon } from "./icons";
import { Place } from "./place";
import { SplitBar, SplitList } from "./split-bar";

/** The answer about one wait. */
export function useWait(id: number | null) {
  return useAnswer(id === null ? null : String(id), (store, signal) => store.wait(id!, signal));
}

/** One wait: its split over owners, both chains, its parts, and what else happened then. */
export function WaitDetail({ state, onClose }: { state: ReturnType<typeof useWait>; onClose: () => void }) {
  const { model, go } = usePage();
  const [chosen, setChosen] = useState(0);
  const [isParts, setParts] = useState(false);
  const { answer, error } = state;
  if (error !== null) return <p class="notice bad">{error}</p>;
  if (answer === null) return <p class="card empty">Reading…</p>;
  const { wait, values, frames } = answer;
  const name = (at: number) => values[at]!.label;
  const owner = wait.shares[Math.min(chosen, wait.shares.length - 1)]!;
  const zoom = () => {
    const margin = Math.max(1_000, wait.duration_ns * 0.5);
    go({ view: "timeline", selection: { from_ns: Math.max(0, Math.floor(wait.start_ns - margin)), to_ns: Math.min(model.duration_ns, Math.ceil(wait.start_ns + wait.duration_ns + margin)) }, lanes: "thread" });
  };

  return (
    <section class="card stacks" aria-label="One wait">
      <div class="row spread">
        <h2>{name(wait.thread)} waited {duration(wait.duration_ns)} for <span class="code lock"><CodeName text={name(wait.lock)} /></span></h2>
        <span class="row">
          <CopyMenu what="the wait" sheet={() => waitSheet(answer)} />
          <button onClick={zoom}>On the timeline</button>
          <button class="icon quiet" aria-label="Close the wait" onClick={onClose}><CloseIcon /></button>
        </span>
      </div>
      <p class="dim">
        From {instant(wait.start_ns, 1_000)}, by {wait.mechanism}, {wait.kind}
        {wait.after_wait && ", back from Object.wait"}
        {wait.safepoint_ns > 0 && `; ${duration(wait.safepoint_ns)} of it in safepoints`}
        {!wait.ended && "; it had not ended when the trace did"}.
      </p>
      <SplitBar wait={wait} values={values} />
      <SplitList wait={wait} values={values} />
      {wait.shares.length > 1 && (
        <label class="small">Owner shown:{" "}
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {wait.shares.slice(0, 100).map((one, at) => <option key={at} value={at}>{percent(share(one.duration_ns, wait.duration_ns))} {name(one.thread)} {values[one.method]!.label}</option>)}
          </select>
        </label>
      )}
      <div class="stack-pair">
        <Chain side="waiter" head="Waiting" value={values[wait.chain]!} frames={frames} />
        <Chain side="owner" head="Owning, at the release" value={values[owner.chain]!} frames={frames} />
      </div>
      {answer.owner_waits.length > 0 && <Others title="Its owners waited, too" label="Waits of the owners" rows={answer.owner_waits} values={values} />}
      {answer.meanwhile.length > 0 && <Others title="Meanwhile" label="Waits at the same time" rows={answer.meanwhile} values={values} />}
      {answer.parts === null ? <p class="small dim">The order of its owners is not kept for a trace of this size.</p> : (
        <>
          <div><button aria-expanded={isParts} onClick={() => setParts(!isParts)}>{plural(answer.parts.length, "part")}, in order</button></div>
          {isParts && <DataTable label="Parts of the wait" columns={partColumns(wait.shares, values)} rows={answer.parts} />}
        </>
      )}
    </section>
  );
}

function Chain({ side, head, value, frames }: { side: "waiter" | "owner"; head: string; value: Value; frames: Frame[] }) {
  const [open, setOpen] = useState<number | null>(null);
  return (
    <div class={`side-${side}`}>
      <div class={`stack-head ${side}`}><span>{head}</span></div>
      {value.chain === undefined && <p class="dim">{value.label}</p>}
      <ol>
        {value.chain?.frames.map((at, depth) => {
          const frame = frames[at]!;
          return (
            <li key={depth} class={`frame ${frame.jdk ? "jdk" : ""} ${depth === value.chain!.first ? "first" : ""}`}>
              <button class="frame-name" aria-expanded={open === depth} onClick={() => setOpen(open === depth ? null : depth)} title={frame.key}>
                <span class="method"><Marked text={shortLabel(frame.method)} /></span>
                <span class="place"><Place frame={frame} /></span>
              </button>
              {open === depth && <FrameDetail frame={frame} method={side === "owner" ? "owner-method" : "method"} />}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Others({ title, label, rows, values }: { title: string; label: string; rows: OtherWait[]; values: Value[] }) {
  const { go } = usePage();
  const columns: Column<OtherWait>[] = [
    { name: "Thread", width: "minmax(80px, 1fr)", text: (row) => values[row.thread]!.label, cell: (row) => <MiddleCut text={values[row.thread]!.label} />, sort: (row) => values[row.thread]!.label },
    { name: "Lock", width: "minmax(90px, 1.4fr)", text: (row) => values[row.lock]!.label, sort: (row) => values[row.lock]!.label },
    { name: "Took", width: "80px", right: true, optional: 2, text: (row) => duration(row.duration_ns), sort: (row) => row.duration_ns },
    { name: "Overlap", width: "80px", right: true, text: (row) => duration(row.overlap_ns), sort: (row) => row.overlap_ns },
  ];
  return (
    <>
      <h3>{title}</h3>
      <DataTable label={label} columns={columns} rows={rows} sortedBy={3} onChoose={(row) => go({ wait: row.id })} />
    </>
  );
}

type Part = NonNullable<WaitAnswer["parts"]>[number];

function partColumns(shares: Share[], values: Value[]): Column<Part>[] {
  const of = (part: Part) => shares[part.share];
  return [
    { name: "From", width: "120px", right: true, text: (part) => instant(part.start_ns, 1_000), sort: (part) => part.start_ns },
    { name: "Took", width: "80px", right: true, text: (part) => duration(part.duration_ns), sort: (part) => part.duration_ns },
    { name: "Owner", width: "minmax(100px, 1fr)", text: (part) => values[of(part)?.thread ?? -1]?.label ?? "one of many", sort: (part) => values[of(part)?.thread ?? -1]?.label ?? "" },
    { name: "Code", width: "minmax(100px, 1.6fr)", optional: 2, text: (part) => values[of(part)?.method ?? -1]?.label ?? "" },
  ];
}

function waitSheet({ wait, parts, values, frames }: WaitAnswer): Sheet {
  const chain = (at: number) => (values[at]!.chain?.frames ?? []).map((frame) => `${frames[frame]!.method}(${place(frames[frame]!)})`);
  const name = (at: number) => values[at]!.label;
  const rows = wait.shares.map((one) => [name(one.thread), name(one.method), duration(one.duration_ns), percent(share(one.duration_ns, wait.duration_ns)), chain(one.chain).join(" ← ")]);
  return {
    title: `${name(wait.thread)} waited ${duration(wait.duration_ns)} for ${name(wait.lock)} at ${chain(wait.chain).join(" ← ")}`,
    columns: [{ name: "Owner" }, { name: "Code" }, { name: "Blocked", right: true }, { name: "Share", right: true }, { name: "Call chain" }],
    rows,
    json: {
      ...wait, lock: name(wait.lock), thread: name(wait.thread), chain: chain(wait.chain), method: name(wait.method),
      shares: wait.shares.map((one) => ({ ...one, thread: name(one.thread), method: name(one.method), chain: chain(one.chain) })), parts,
    },
  };
}

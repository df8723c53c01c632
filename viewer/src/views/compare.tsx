import { useMemo, useState } from "preact/hooks";
import type { Selection } from "../api/types";
import { AspectChips } from "../parts/aspect-chips";
import { CodeName } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { FlameGraph } from "../parts/flame-graph";
import { TreeGrid, type TreeColumn } from "../parts/tree-grid";
import { ASPECT_LABELS, roleOf, sideOf } from "../state/aspects";
import { compare, SLICES, unitsOf, type Compared } from "../state/comparison";
import { flame } from "../state/flame";
import { idOf } from "../state/nest";
import { usePage, useQuery, wholeTime } from "../state/page";
import { narrowAll } from "../state/selection";
import type { Sheet } from "../text/sheet";
import { duration, fileName, instant, share } from "../text/units";

type Row = Compared & { children: Row[] };

/** Two traces, or two ranges: blocked time per second, or per unit of work, laid over each other. */
export function CompareView() {
  const { model, address } = usePage();
  const { compare: traces } = model;
  if (traces === null && address.other === null) return <HowToCompare />;
  const sides = sidesOf(address.selection, traces, address.other);
  return <Comparison before={sides.before} after={sides.after} names={namesOf(model, traces, address)} />;
}

function sidesOf(selection: Selection, traces: { before: number[]; after: number[] } | null, other: { from_ns: number; to_ns: number } | null): { before: Selection; after: Selection } {
  // A second range beats the traces: it was drawn by hand.
  if (other !== null) return { before: selection, after: { ...wholeTime(selection), ...other } };
  return { before: { ...selection, traces: traces!.before }, after: { ...selection, traces: traces!.after } };
}

function namesOf(model: ReturnType<typeof usePage>["model"], traces: { before: number[]; after: number[] } | null, address: ReturnType<typeof usePage>["address"]): [string, string] {
  const range = (from: number, to: number) => `${instant(from, model.duration_ns / 1_000)} – ${instant(to, model.duration_ns / 1_000)}`;
  if (address.other !== null) return [range(address.selection.from_ns ?? 0, address.selection.to_ns ?? model.duration_ns), range(address.other.from_ns, address.other.to_ns)];
  const files = (at: number[]) => at.map((one) => fileName(model.traces[one]?.path ?? String(one))).join(", ");
  return [files(traces!.before), files(traces!.after)];
}

function HowToCompare() {
  const { model, address, go } = usePage();
  const { from_ns, to_ns } = address.selection;
  const half = Math.floor(model.duration_ns / 2);
  return (
    <section class="card stacks">
      <h2>Compare two ranges, or two traces</h2>
      <p>Hold <kbd>Shift</kbd> and drag over the time above: what you drag over is compared with {from_ns === undefined && to_ns === undefined ? "all of the trace" : "the selected range"}. Two traces are compared by <span class="code">locktrace view --compare before.lct after.lct</span>.</p>
      <div class="row">
        <button onClick={() => go({ selection: { ...address.selection, from_ns: 0, to_ns: half }, other: { from_ns: half, to_ns: model.duration_ns } })}>First half with second half</button>
      </div>
    </section>
  );
}

function Comparison({ before, after, names }: { before: Selection; after: Selection; names: [string, string] }) {
  const { address, go } = usePage();
  const { by, work, at } = address;
  const [isFlame, setFlame] = useState(false);
  const a = useQuery({ selection: before, by, limit: 2_000, buckets: SLICES });
  const b = useQuery({ selection: after, by, limit: 2_000, buckets: SLICES });
  const root = useMemo(() => (a.answer === null || b.answer === null ? null : compare(a.answer, b.answer, by, work)), [a.answer, b.answer, by.join(), work?.join()]);
  const most = root === null ? 1 : Math.max(1, ...root.children.map((row) => Math.abs(row.after - row.before)));
  const unit = work === null ? "per second" : "per unit of work";
  const setWork = (which: 0 | 1, text: string) => {
    const next: [number, number] = [work?.[0] ?? 1, work?.[1] ?? 1];
    next[which] = Number(text);
    go({ work: next.every((units) => units > 0) ? next : null }, { replace: true });
  };
  const onChoose = (row: Row) => go({ selection: narrowAll(address.selection, row.path.map((key, depth) => ({ aspect: by[depth]!, key }))), at: [] });

  return (
    <>
      <div class="toolbar">
        <div class="segmented" role="group" aria-label="Form of the comparison">
          <button aria-pressed={!isFlame} onClick={() => setFlame(false)}>Tree</button>
          <button aria-pressed={isFlame} onClick={() => setFlame(true)}>Flame graph of owners</button>
        </div>
        {!isFlame && <AspectChips by={by} onChange={(next) => go({ by: next, at: [] })} />}
        <span class="fill" />
        {address.other !== null && <button onClick={() => go({ other: null })}>End the comparison</button>}
        {root !== null && <CopyMenu what="the comparison" sheet={() => comparisonSheet(root, names, unit)} />}
      </div>
      <div class="row small">
        <span>Before: <b class="accent">{names[0]}</b></span><span>After: <b class="owner">{names[1]}</b></span>
        <label>Units of work before <input type="number" min="0" class="work" value={work?.[0] ?? ""} onChange={(event) => setWork(0, event.currentTarget.value)} /></label>
        <label>after <input type="number" min="0" class="work" value={work?.[1] ?? ""} onChange={(event) => setWork(1, event.currentTarget.value)} /></label>
        <span class="dim">Blocked time {unit}. Hatched: no more than twice the standard error, from how {SLICES} slices of each side vary.</span>
      </div>
      {(a.error ?? b.error) !== null && <p class="notice bad">{a.error ?? b.error}</p>}
      {isFlame ? <DifferenceFlame before={before} after={after} work={work} /> : root !== null && (
        <TreeGrid
          label={`Comparison by ${by.map((aspect) => ASPECT_LABELS[aspect]).join(", ")}`} columns={columns(address.selection, most)} rows={[withoutSmall(root as Row)]}
          active={at.length > 0 ? idOf(at) : null} onActive={(row) => go({ at: row.path }, { replace: true })} onChoose={onChoose} isLoading={a.isLoading || b.isLoading}
          isOpenAtFirst={(row, depth) => depth === 0 || (depth < 3 && row.isClear)}
        />
      )}
    </>
  );
}

/** Rows that have next to nothing on both sides say nothing about a change. */
function withoutSmall(root: Row): Row {
  const least = Math.max(root.before, root.after) * 0.001;
  const kept = (row: Row): Row => ({ ...row, children: row.children.filter((child) => Math.max(child.before, child.after) >= least).map(kept) });
  return kept(root);
}

function DifferenceFlame({ before, after, work }: { before: Selection; after: Selection; work: [number, number] | null }) {
  const a = useQuery({ selection: before, by: ["owner-chain"], limit: 20_000 });
  const b = useQuery({ selection: after, by: ["owner-chain"], limit: 20_000 });
  const root = useMemo(() => {
    if (a.answer === null || b.answer === null) return null;
    return flame(b.answer, "owners", false, a.answer, unitsOf(b.answer, work?.[1] ?? null) / unitsOf(a.answer, work?.[0] ?? null));
  }, [a.answer, b.answer, work?.join()]);
  if (root === null) return <p class="empty card">Reading…</p>;
  return (
    <>
      <p class="dim small">Widths are the sum of both sides, the side before scaled to the units after. <span class="owner">Orange</span>: more after; <span class="waiter">blue</span>: less.</p>
      <FlameGraph root={root} label="Owners, after against before" isDifference />
    </>
  );
}

function change(row: Compared): string {
  if (row.before === 0) return row.after === 0 ? "" : "new";
  if (row.after === 0) return "gone";
  const ratio = row.after / row.before;
  return ratio >= 10 ? `× ${ratio.toFixed(0)}` : `× ${ratio.toFixed(2)}`;
}

function columns(selection: Selection, most: number): TreeColumn<Row>[] {
  return [
    {
      name: "What", width: "minmax(150px, 1fr)",
      cell: (row) => {
        if (row.value === null) return <b>Everything</b>;
        const role = roleOf(row.aspect!, row.value, selection);
        return (
          <>
            {role !== "" && <span class={`role ${sideOf(row.aspect!)}`}>{role}</span>}
            <span class="name" title={row.value.long ?? row.value.label}><CodeName text={row.value.label} /></span>
          </>
        );
      },
    },
    { name: "Before", width: "80px", right: true, optional: 2, cell: (row) => duration(row.before) },
    { name: "After", width: "80px", right: true, optional: 2, cell: (row) => duration(row.after) },
    { name: "Change", width: "86px", right: true, cell: (row) => `${row.after > row.before ? "+" : ""}${duration(row.after - row.before)}` },
    { name: "Ratio", width: "64px", right: true, cell: (row) => change(row) },
    {
      name: "Less │ more", width: "150px", optional: 2,
      cell: (row) => {
        const width = `${Math.min(50, share(Math.abs(row.after - row.before), most) * 50)}%`;
        return <span class="delta"><i class={`${row.after > row.before ? "more" : "less"} ${row.isClear ? "" : "unclear"}`} style={{ width }} /></span>;
      },
    },
    { name: "±", width: "80px", right: true, optional: 3, cell: (row) => duration(row.spread) },
    { name: "Clear", width: "54px", optional: 3, cell: (row) => (row.isClear ? "yes" : "no") },
  ];
}

function comparisonSheet(root: Compared, names: [string, string], unit: string): Sheet {
  const rows: string[][] = [];
  const add = (row: Compared, depth: number) => {
    rows.push(["  ".repeat(depth) + (row.value?.label ?? "Everything"), duration(row.before), duration(row.after), duration(row.after - row.before), change(row), duration(row.spread), row.isClear ? "yes" : "no"]);
    row.children.forEach((child) => add(child, depth + 1));
  };
  add(root, 0);
  return {
    title: `Blocked time ${unit}: ${names[0]} before, ${names[1]} after`,
    columns: ["What", "Before", "After", "Change", "Ratio", "±", "Clear"].map((name, at) => ({ name, right: at > 0 && at < 6 })),
    rows,
    json: { before: names[0], after: names[1], unit, root },
  };
}

import { useMemo, useState } from "preact/hooks";
import type { Aspect, Selection } from "../api/types";
import { AspectChips } from "../parts/aspect-chips";
import { CodeName, MiddleCut } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { Spark } from "../parts/spark";
import { Stacks } from "../parts/stacks";
import { TreeGrid, type TreeColumn } from "../parts/tree-grid";
import { ASPECT_LABELS, PRESETS, roleOf, sideOf } from "../state/aspects";
import { idOf, nest, type Measure, type Node } from "../state/nest";
import { usePage, useQuery } from "../state/page";
import { treeQuery } from "../state/questions";
import { narrow, narrowAll } from "../state/selection";
import type { Sheet } from "../text/sheet";
import { count, duration, percent, plural, share } from "../text/units";

/** Rows with less of the time are folded into one, unless asked for. */
const SMALL = 0.001;

interface Row {
  id: string;
  children: Row[];
  isFolded?: boolean;
  node: Node | null;
  /** For a folded row: the number of rows, and their time. */
  folded?: { rows: number; duration: number };
}

/** Any order of aspects as a tree, and both stacks of its active row. */
export function TreeView() {
  const { address, go } = usePage();
  const { by, selection, at } = address;
  const [sort, setSort] = useState<Measure>("duration_ns");
  const [isAll, setAll] = useState(false);
  const { answer, isLoading, error } = useQuery(treeQuery(selection, by, isAll));
  const root = useMemo(() => (answer === null ? null : nest(answer, by, sort)), [answer, sort]);
  const total = root?.group.duration_ns ?? 0;
  const rows = useMemo(() => (root === null ? [] : rowsOf(root, total, isAll)), [root, total, isAll]);
  const conditions = at.slice(0, by.length).map((key, depth) => ({ aspect: by[depth]!, key }));
  const labels = labelsOf(root, at);
  const onActive = (row: Row) => {
    if (row.node !== null) go({ at: row.node.path }, { replace: true });
  };
  const keep = (row: Row) => {
    if (row.isFolded) setAll(true);
    else if (row.node !== null) go({ selection: narrowAll(selection, row.node.path.map((key, depth) => ({ aspect: by[depth]!, key }))), at: [] });
  };
  const remove = (row: Row) => {
    if (row.node !== null) go({ selection: narrow(selection, by[row.node.path.length - 1]!, row.node.path[row.node.path.length - 1]!, true), at: [] });
  };
  const setBy = (next: Aspect[]) => go({ by: next, at: [] });

  return (
    <>
      <div class="toolbar">
        <div class="segmented" role="group" aria-label="Order of aspects, presets">
          {PRESETS.map((preset) => (
            <button key={preset.name} aria-pressed={preset.by.join() === by.join()} onClick={() => setBy(preset.by)}>{preset.name}</button>
          ))}
        </div>
        <AspectChips by={by} onChange={setBy} />
        <span class="fill" />
        <button aria-pressed={isAll} onClick={() => setAll(!isAll)} title="Also rows with less than 0.1 % of the time">All rows</button>
        {root !== null && <CopyMenu what="the tree" sheet={() => treeSheet(root, by)} />}
      </div>
      {error !== null && <p class="notice bad">{error}</p>}
      <div class="with-side">
        {root !== null && rows.length === 0 ? <p class="empty card">No thread waited here.</p> : (
          <TreeGrid
            label={`Blocked time by ${by.map((aspect) => ASPECT_LABELS[aspect]).join(", ")}`}
            columns={columns(selection, total, sort, setSort)} rows={rows} active={at.length > 0 ? idOf(at) : null}
            onActive={onActive} onChoose={keep} onRemove={remove} isLoading={isLoading}
            isOpenAtFirst={(row, depth) => depth < 2 && (row.node?.group.duration_ns ?? 0) >= total / (depth === 0 ? 4 : 3)}
          />
        )}
        <div class="side">
          <Stacks selection={narrowAll(selection, conditions)} totalNs={total} title={at.length === 0 ? "The whole selection" : <span class="code"><CodeName text={labels[labels.length - 1] ?? at[at.length - 1]!} /></span>}>
            {at.length > 0 && (
              <div class="row">
                <button onClick={() => go({ selection: narrowAll(selection, conditions), at: [] })}>Only this <kbd>Enter</kbd></button>
                <button onClick={() => go({ selection: narrow(selection, by[at.length - 1]!, at[at.length - 1]!, true), at: [] })}>Leave it out <kbd>Del</kbd></button>
                <button onClick={() => go({ selection: narrowAll(selection, conditions), at: [], view: "waits" })}>Its waits</button>
              </div>
            )}
          </Stacks>
        </div>
      </div>
    </>
  );
}

function rowsOf(root: Node, total: number, isAll: boolean): Row[] {
  const convert = (node: Node): Row[] => {
    const shown = isAll ? node.children : node.children.filter((child) => child.group.duration_ns >= total * SMALL);
    // Where all are small, leaving all out would show nothing.
    const kept = shown.length === 0 ? node.children.slice(0, 20) : shown;
    const rows = kept.map((child): Row => ({ id: child.id, node: child, children: convert(child) }));
    const hidden = node.group.children - kept.length;
    if (hidden === 0) return rows;
    const duration = kept.reduce((left, child) => left - child.group.duration_ns, node.group.duration_ns);
    return [...rows, { id: `${node.id} folded`, node: null, children: [], isFolded: true, folded: { rows: hidden, duration } }];
  };
  return convert(root);
}

function columns(selection: Selection, total: number, sort: Measure, setSort: (sort: Measure) => void): TreeColumn<Row>[] {
  const measure = (name: string, field: Measure, width: string, text: (value: number) => string, optional?: 2 | 3 | 4): TreeColumn<Row> => ({
    name, width, right: true, optional, isSorted: sort === field, onSort: () => setSort(field),
    cell: (row) => (row.node === null ? "" : text(row.node.group[field])),
  });
  return [
    { name: "What", width: "minmax(150px, 1fr)", cell: (row) => <Label row={row} selection={selection} /> },
    {
      name: "Blocked", width: "76px", right: true, isSorted: sort === "duration_ns", onSort: () => setSort("duration_ns"),
      cell: (row) => duration(row.node?.group.duration_ns ?? row.folded!.duration),
    },
    {
      name: "Share", width: "clamp(52px, 9cqw, 74px)", right: true,
      cell: (row) => {
        const part = share(row.node?.group.duration_ns ?? row.folded!.duration, total);
        return <span class="meter"><i style={{ width: `${part * 100}%` }} /><span>{percent(part)}</span></span>;
      },
    },
    measure("Waits", "waits", "60px", count, 2),
    measure("p50", "p50_ns", "66px", duration, 4),
    measure("p99", "p99_ns", "66px", duration, 3),
    measure("Longest", "max_ns", "72px", duration, 2),
    measure("Threads", "threads", "64px", count, 4),
    { name: "Over time", width: "74px", optional: 3, cell: (row) => <Spark series={row.node?.group.series} /> },
  ];
}

function Label({ row, selection }: { row: Row; selection: Selection }) {
  if (row.node === null) return <span>and {plural(row.folded!.rows, "more row")}</span>;
  const value = row.node.value!;
  const role = roleOf(row.node.aspect!, value, selection);
  return (
    <>
      {role !== "" && <span class={`role ${sideOf(row.node.aspect!)}`}>{role}</span>}
      <span class="name" title={value.long ?? value.label}>
        {row.node.aspect!.endsWith("thread") ? <MiddleCut text={value.label} /> : <CodeName text={value.label} />}
      </span>
    </>
  );
}

function labelsOf(root: Node | null, path: string[]): string[] {
  const labels: string[] = [];
  let node = root;
  for (const key of path) {
    node = node?.children.find((child) => child.value?.key === key) ?? null;
    labels.push(node?.value?.label ?? key);
  }
  return labels;
}

/** The tree as it is, without folding, for the clipboard. */
function treeSheet(root: Node, by: Aspect[]): Sheet {
  const rows: string[][] = [];
  const total = root.group.duration_ns;
  const add = (node: Node, depth: number) => {
    const { group } = node;
    rows.push([
      "  ".repeat(depth) + (node.value?.long ?? node.value?.label ?? ""), duration(group.duration_ns), percent(share(group.duration_ns, total)), count(group.waits),
      duration(group.p50_ns), duration(group.p99_ns), duration(group.max_ns), count(group.threads),
    ]);
    node.children.forEach((child) => add(child, depth + 1));
  };
  root.children.forEach((child) => add(child, 0));
  const json = (node: Node): unknown => {
    const { path: _path, series: _series, wall_series: _wall, ...numbers } = node.group;
    return { aspect: node.aspect ?? undefined, key: node.value?.key, label: node.value?.label, ...numbers, children: node.children.map(json) };
  };
  return {
    title: `Blocked ${duration(total)} in ${plural(root.group.waits, "wait")} by ${by.map((aspect) => ASPECT_LABELS[aspect]).join(", ")}`,
    columns: ["What", "Blocked", "Share", "Waits", "p50", "p99", "Longest", "Threads"].map((name, at) => ({ name, right: at > 0 })),
    rows,
    json: json(root),
  };
}

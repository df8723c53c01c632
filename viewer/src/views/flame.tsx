import { useMemo, useState } from "preact/hooks";
import { CodeName } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { DataTable, sheetOf, type Column } from "../parts/data-table";
import { FlameGraph } from "../parts/flame-graph";
import type { FlameMode } from "../state/address";
import { byMethod, flame, sandwich, type FlameNode } from "../state/flame";
import { usePage, useQuery } from "../state/page";
import { flameQuery } from "../state/questions";
import { narrow } from "../state/selection";
import { duration, percent, share } from "../text/units";

const MODES: [FlameMode, string, string][] = [
  ["owners", "Owners", "Call chains that held locks, by the waiting that they caused"],
  ["waiters", "Waiters", "Call chains that waited, by how long"],
  ["chain", "Owner → lock → waiter", "The owner's call chain, the lock, and the waiter's call chain upside down"],
];

/** Flame graphs of owners and of waiters, inverted, as a sandwich, and from owner to waiter. */
export function FlameView() {
  const { address, go } = usePage();
  const { flame: mode, isInverted, selection } = address;
  const [isTable, setTable] = useState(false);
  const simple = mode === "chain" ? "owners" : mode;
  const key = address.sandwich;
  const { answer, isLoading, error } = useQuery(flameQuery(selection, key === null ? mode : simple));
  const root = useMemo(() => (answer === null || key !== null ? null : flame(answer, mode, isInverted)), [answer, mode, isInverted, key]);
  const two = useMemo(() => (answer === null || key === null ? null : sandwich(answer, simple, key)), [answer, simple, key]);
  const rows = useMemo(() => (root === null ? [] : byMethod(root)), [root]);
  const total = root?.total ?? 0;
  const about = MODES.find(([name]) => name === mode)!;
  const onFilter = (node: FlameNode) => {
    if (node.frame !== null) go({ selection: narrow(selection, node.side === "owner" ? "owner-method" : "method", node.frame.key), at: [] });
  };

  return (
    <>
      <div class="toolbar">
        <div class="segmented" role="group" aria-label="Whose call chains">
          {MODES.map(([name, title]) => <button key={name} aria-pressed={mode === name} onClick={() => go({ flame: name, sandwich: null })}>{title}</button>)}
        </div>
        {mode !== "chain" && key === null && <button aria-pressed={isInverted} onClick={() => go({ isInverted: !isInverted })}>Inverted</button>}
        {key !== null && <button onClick={() => go({ sandwich: null })}>All call chains</button>}
        <span class="fill" />
        <button aria-pressed={isTable} onClick={() => setTable(!isTable)}>Table</button>
        {root !== null && <CopyMenu what="the methods" sheet={() => sheetOf(about[2], columns(total), rows)} />}
      </div>
      <p class="dim">{key === null ? `${about[2]}${isInverted && mode !== "chain" ? ", innermost frames first" : ""}.` : <>Callers and callees of <span class="code"><CodeName text={key} /></span></>}</p>
      {error !== null && <p class="notice bad">{error}</p>}
      <div class={isLoading ? "loading" : ""}>
        {root !== null && !isTable && (root.total === 0 ? <p class="empty card">No thread waited here.</p> : <FlameGraph key={mode} root={root} label={about[2]} onFilter={onFilter} />)}
        {root !== null && isTable && <DataTable label="Methods" columns={columns(total)} rows={rows} sortedBy={1} onChoose={(row) => go({ sandwich: row.key })} />}
        {two !== null && key !== null && (two.callers.total === 0 ? <p class="empty card">The method is on none of these call chains.</p> : (
          <>
            <h2>Callers</h2>
            <FlameGraph root={two.callers} label="Callers" isUpwards onFilter={onFilter} />
            <h2>Callees</h2>
            <FlameGraph root={two.callees} label="Callees" onFilter={onFilter} />
          </>
        ))}
      </div>
    </>
  );
}

function columns(total: number): Column<ReturnType<typeof byMethod>[number]>[] {
  return [
    { name: "Method", width: "minmax(160px, 1fr)", text: (row) => row.label, cell: (row) => <span class="code"><CodeName text={row.label} /></span>, sort: (row) => row.label },
    { name: "On the stack", width: "110px", right: true, text: (row) => duration(row.total), sort: (row) => row.total },
    { name: "Share", width: "80px", right: true, optional: 2, text: (row) => percent(share(row.total, total)) },
    { name: "Innermost", width: "110px", right: true, text: (row) => duration(row.self), sort: (row) => row.self },
  ];
}

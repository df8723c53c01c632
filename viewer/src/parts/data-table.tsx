import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Sheet } from "../text/sheet";
import { useWindow } from "./window";

export interface Column<T> {
  name: string;
  /** The width of the grid's track: `1fr`, `90px`. */
  width: string;
  right?: boolean;
  /** Left out where there is little room: 4 first, then 3 and 2. */
  optional?: 2 | 3 | 4;
  text: (row: T) => string;
  /** The contents of a cell that is more than its text. */
  cell?: (row: T) => ComponentChildren;
  /** The key to sort by; a column without it does not sort. */
  sort?: (row: T) => number | string;
}

/** The tracks of a grid that is wide enough for all columns, and of narrower ones. */
export function tracks(columns: { width: string; optional?: 2 | 3 | 4 }[]) {
  const of = (wanted: { width: string }[]) => wanted.map((column) => column.width).join(" ");
  return {
    "--columns": of(columns),
    "--columns-3": of(columns.filter((column) => column.optional !== 4)),
    "--columns-2": of(columns.filter((column) => (column.optional ?? 0) < 3)),
    "--columns-1": of(columns.filter((column) => column.optional === undefined)),
  };
}

export function columnClass(column: { right?: boolean; optional?: 2 | 3 | 4 }): string {
  return `${column.right ? "num" : ""} ${column.optional ? `opt-${column.optional}` : ""}`;
}

const ROW = 30;

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  /** The column sorted by first, longest or largest on top. */
  sortedBy?: number;
  /** Called when a row is chosen. */
  onChoose?: (row: T) => void;
  /** The row that was chosen last, where that is kept elsewhere. */
  isChosen?: (row: T) => boolean;
  isLoading?: boolean;
}

/** A table of which any column sorts; arrow keys move, Enter chooses. */
export function DataTable<T>({ label, columns, rows, sortedBy, onChoose, isChosen, isLoading }: Props<T>) {
  const [order, setOrder] = useState<{ column: number; isUp: boolean } | null>(sortedBy === undefined ? null : { column: sortedBy, isUp: false });
  const [active, setActive] = useState<number | null>(null);
  const sorted = useMemo(() => sort(rows, columns, order), [rows, columns, order]);
  const { scroller, first, last, show } = useWindow(sorted.length, ROW);
  const id = `table-${label.replace(/\W+/g, "-")}`;
  const at = Math.max(0, Math.min(active ?? (isChosen === undefined ? 0 : sorted.findIndex(isChosen)), sorted.length - 1));

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -sorted.length, End: sorted.length }[event.key];
    if (event.key === "Enter" && sorted[at] !== undefined) onChoose?.(sorted[at]);
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(sorted.length - 1, at + step));
    setActive(next);
    show(next);
  };
  const turn = (column: number) => setOrder((before) => ({ column, isUp: before?.column === column ? !before.isUp : false }));

  if (rows.length === 0) return <p class="empty card">Nothing here.</p>;
  return (
    <div class={`grid ${isLoading ? "loading" : ""}`} style={tracks(columns)}>
      <div
        class="grid-scroll" ref={scroller} role="grid" tabIndex={0} aria-label={label} aria-rowcount={sorted.length + 1}
        aria-activedescendant={at >= first && at < last ? `${id}-${at}` : undefined} onKeyDown={onKeyDown}
      >
        <div class="head" role="row" aria-rowindex={1}>
          {columns.map((column, at) => {
            const direction = order?.column !== at ? "none" : order.isUp ? "ascending" : "descending";
            return (
              <div key={column.name} role="columnheader" class={columnClass(column)} aria-sort={column.sort ? direction : undefined}>
                {column.sort ? <button onClick={() => turn(at)}>{column.name}{direction === "none" ? "" : direction === "ascending" ? " ↑" : " ↓"}</button> : column.name}
              </div>
            );
          })}
        </div>
        <div role="presentation" style={{ height: `${sorted.length * ROW}px`, position: "relative" }}>
          {sorted.slice(first, last).map((row, offset) => {
            const index = first + offset;
            return (
              // The grid takes the keys; a row is its active descendant.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={index} id={`${id}-${index}`} role="row" aria-rowindex={index + 2} aria-selected={index === at}
                class={`line ${index === at ? "active" : ""}`} style={{ top: `${index * ROW}px` }}
                onClick={() => {
                  setActive(index);
                  onChoose?.(row);
                }}
              >
                {columns.map((column) => (
                  <div key={column.name} role="gridcell" class={columnClass(column)} title={column.text(row)}>
                    {column.cell ? column.cell(row) : column.text(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function sort<T>(rows: T[], columns: Column<T>[], order: { column: number; isUp: boolean } | null): T[] {
  const by = order === null ? undefined : columns[order.column]?.sort;
  if (order === null || by === undefined) return rows;
  const sign = order.isUp ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [one, other] = [by(a), by(b)];
    return one === other ? 0 : (one < other ? -1 : 1) * sign;
  });
}

/** A table for the clipboard. */
export function sheetOf<T>(title: string, columns: Column<T>[], rows: T[]): Sheet {
  const named = columns.filter((column) => column.name !== "");
  return {
    title,
    columns: named.map(({ name, right }) => ({ name, right })),
    rows: rows.map((row) => named.map((column) => column.text(row))),
    json: rows.map((row) => Object.fromEntries(named.map((column) => [column.name, column.sort ? column.sort(row) : column.text(row)]))),
  };
}

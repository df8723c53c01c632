import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { columnClass, tracks } from "./data-table";
import { Twist } from "./icons";
import { useWindow } from "./window";

const ROW = 30;

/** A row that may have rows below it. */
export interface TreeRow {
  id: string;
  children: TreeRow[];
  /** Stands for rows that are left out: choosing it shows them. */
  isFolded?: boolean;
}

export interface TreeColumn<T extends TreeRow> {
  name: string;
  width: string;
  right?: boolean;
  optional?: 2 | 3 | 4;
  cell: (row: T) => ComponentChildren;
  /** Called when the head is chosen to sort by it. */
  onSort?: () => void;
  isSorted?: boolean;
}

interface Props<T extends TreeRow> {
  label: string;
  /** The first column has the branches. */
  columns: TreeColumn<T>[];
  rows: T[];
  /** The active row's id. */
  active: string | null;
  onActive: (row: T) => void;
  /** Enter, or a second click. */
  onChoose: (row: T) => void;
  /** Delete. */
  onRemove?: (row: T) => void;
  /** Returns whether a row is open until the user toggles it. */
  isOpenAtFirst: (row: T, depth: number) => boolean;
  isLoading?: boolean;
}

interface Line<T> {
  row: T;
  depth: number;
  position: number;
  siblings: number;
  parent: number;
}

/** A table whose rows open, by the keys of ARIA's treegrid. */
export function TreeGrid<T extends TreeRow>(props: Props<T>) {
  const { label, columns, rows, active, onActive, onChoose, onRemove, isOpenAtFirst, isLoading } = props;
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isOpen = (row: T, depth: number) => row.children.length > 0 && (turned.get(row.id) ?? isOpenAtFirst(row, depth));
  const lines = useMemo(() => flatten(rows, isOpen), [rows, turned]);
  const { scroller, first, last, show } = useWindow(lines.length, ROW);
  const found = lines.findIndex((line) => line.row.id === active);
  const at = Math.max(0, found);
  const id = `tree-${label.replace(/\W+/g, "-")}`;

  useEffect(() => {
    if (found >= 0) show(found);
  }, [active]);

  const turn = (line: Line<T>, open: boolean) => setTurned(new Map([...turned, [line.row.id, open]]));
  const go = (to: number) => {
    const line = lines[Math.max(0, Math.min(lines.length - 1, to))];
    if (line === undefined) return;
    onActive(line.row);
    show(lines.indexOf(line));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const line = lines[at];
    if (event.target !== scroller.current || line === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = isOpen(line.row, line.depth);
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(found < 0 ? 0 : at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + 15),
      PageUp: () => go(at - 15),
      Home: () => go(0),
      End: () => go(lines.length - 1),
      ArrowRight: () => (open ? go(at + 1) : line.row.children.length > 0 && turn(line, true)),
      ArrowLeft: () => (open ? turn(line, false) : line.parent >= 0 && go(line.parent)),
      Enter: () => onChoose(line.row),
      Delete: () => onRemove?.(line.row),
      "*": () => setTurned(new Map([...turned, ...lines.filter((one) => one.depth === line.depth).map((one) => [one.row.id, true] as const)])),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  return (
    <div class={`grid ${isLoading ? "loading" : ""}`} style={tracks(columns)}>
      <div
        class="grid-scroll" ref={scroller} role="treegrid" tabIndex={0} aria-label={label} aria-rowcount={lines.length + 1}
        aria-activedescendant={found >= first && found < last ? `${id}-${found}` : undefined} onKeyDown={onKeyDown}
      >
        <div class="head" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <div key={column.name} role="columnheader" class={columnClass(column)} aria-sort={column.onSort ? (column.isSorted ? "descending" : "none") : undefined}>
              {column.onSort ? <button onClick={column.onSort}>{column.name}{column.isSorted ? " ↓" : ""}</button> : column.name}
            </div>
          ))}
        </div>
        <div role="presentation" style={{ height: `${lines.length * ROW}px`, position: "relative" }}>
          {lines.slice(first, last).map((line, offset) => {
            const index = first + offset;
            const { row } = line;
            const hasChildren = row.children.length > 0;
            const open = isOpen(row, line.depth);
            return (
              // The grid takes the keys; a row is its active descendant.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={row.id} id={`${id}-${index}`} role="row" aria-rowindex={index + 2} aria-level={line.depth + 1}
                aria-posinset={line.position} aria-setsize={line.siblings} aria-expanded={hasChildren ? open : undefined} aria-selected={index === found}
                class={`line ${index === found ? "active" : ""} ${row.isFolded ? "folded" : ""}`} style={{ top: `${index * ROW}px` }}
                onClick={() => onActive(row)} onDblClick={() => onChoose(row)}
              >
                {columns.map((column, at) => (
                  <div key={column.name} role={at === 0 ? "rowheader" : "gridcell"} class={columnClass(column)}>
                    {at > 0 ? column.cell(row) : (
                      <span class="label" style={{ "--depth": line.depth }}>
                        {/* The row says whether it is open, and the keys turn it. */}
                        <button
                          class="twist" tabIndex={-1} aria-hidden="true" disabled={!hasChildren} style={{ visibility: hasChildren ? "visible" : "hidden" }}
                          onClick={(event) => {
                            event.stopPropagation();
                            turn(line, !open);
                          }}
                        >
                          <Twist />
                        </button>
                        {column.cell(row)}
                      </span>
                    )}
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

function flatten<T extends TreeRow>(rows: T[], isOpen: (row: T, depth: number) => boolean): Line<T>[] {
  const lines: Line<T>[] = [];
  const add = (siblings: T[], depth: number, parent: number) => {
    siblings.forEach((row, at) => {
      lines.push({ row, depth, position: at + 1, siblings: siblings.length, parent });
      if (isOpen(row, depth)) add(row.children as T[], depth + 1, lines.length - 1);
    });
  };
  add(rows, 0, -1);
  return lines;
}

import type { Aspect, Condition, Selection } from "../api/types";

/** The selection without what is empty, so that equal selections have one address. */
function tidy(selection: Selection, filter: Condition[]): Selection {
  const { filter: _, ...rest } = selection;
  const kept = filter.filter((condition) => condition.in.length > 0);
  return kept.length > 0 ? { ...rest, filter: kept } : rest;
}

/** Narrows the selection to one value of an aspect, or to all but that one. */
export function narrow(selection: Selection, aspect: Aspect, key: string, not = false): Selection {
  const others = (selection.filter ?? []).filter((condition) => condition.aspect !== aspect || (condition.not ?? false) !== not);
  const same = (selection.filter ?? []).find((condition) => condition.aspect === aspect && (condition.not ?? false) === not);
  // Two values of one aspect exclude each other; what is left out adds up.
  const keys = not ? [...new Set([...(same?.in ?? []), key])] : [key];
  return tidy(selection, [...others, { aspect, in: keys, ...(not ? { not } : {}) }]);
}

/** Narrows the selection by the values of several aspects. */
export function narrowAll(selection: Selection, conditions: { aspect: Aspect; key: string }[]): Selection {
  return conditions.reduce((narrowed, { aspect, key }) => narrow(narrowed, aspect, key), selection);
}

/** Takes a key out of a condition. */
export function widen(selection: Selection, condition: Condition, key: string): Selection {
  const filter = (selection.filter ?? []).map((one) =>
    one.aspect === condition.aspect && (one.not ?? false) === (condition.not ?? false)
      ? { ...one, in: one.in.filter((other) => other !== key) }
      : one,
  );
  return tidy(selection, filter);
}

export function withRange(selection: Selection, from_ns: number, to_ns: number, duration_ns: number): Selection {
  const { from_ns: _from, to_ns: _to, ...rest } = selection;
  const from = Math.max(0, Math.floor(Math.min(from_ns, to_ns)));
  const to = Math.min(duration_ns, Math.ceil(Math.max(from_ns, to_ns)));
  if (from <= 0 && to >= duration_ns) return rest;
  return { ...rest, from_ns: from, to_ns: Math.max(from + 1, to) };
}

/** The selection of the newest part: as long as it is followed, its range moves. */
export function withLast(selection: Selection, last_ns: number | null, duration_ns: number): Selection {
  return last_ns === null ? selection : withRange(selection, duration_ns - last_ns, duration_ns, duration_ns);
}

/** An argument of a POSIX shell. */
function quote(text: string): string {
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/** The options of `locktrace report` for one value of an aspect. */
const REPORT_FILTERS: Partial<Record<Aspect, string>> = {
  thread: "--thread", "lock-class": "--lock-class", method: "--method", "owner-method": "--owner-method",
};

/** A pattern that matches this key and no other. */
function pattern(key: string): string {
  const isPlain = !/[*?]/.test(key) && !(key.startsWith("/") && key.endsWith("/"));
  return isPlain ? key : `/^${key.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$/`;
}

/** The options of `locktrace report` that mean the selection; null if none do. */
function reportOptions(selection: Selection, traces: number): string[] | null {
  const { from_ns, to_ns, min_ns, max_ns, kinds, filter = [] } = selection;
  const hasRange = from_ns !== undefined || to_ns !== undefined;
  // The report's times are since each trace's own start.
  if (min_ns !== undefined || max_ns !== undefined || (hasRange && traces > 1)) return null;
  const options = kinds ? ["--kind", kinds.join(",")] : [];
  if (from_ns !== undefined) options.push("--from", `${from_ns}ns`);
  if (to_ns !== undefined) options.push("--to", `${to_ns}ns`);
  for (const { aspect, not, in: keys } of filter) {
    const option = not ? "--exclude" : REPORT_FILTERS[aspect];
    if (option === undefined || aspect === "trace") return null;
    for (const key of keys) options.push(option, not ? `${aspect}=${pattern(key)}` : pattern(key));
  }
  return options;
}

/** The command line that prints what the selection has: a report, or a query where a report has no such options. */
export function commandOf(selection: Selection, by: Aspect[], paths: string[], libraries: string[]): string {
  const { traces, ...rest } = selection;
  const files = (traces ?? paths.map((_, at) => at)).map((at) => paths[at] ?? "");
  const library = libraries.flatMap((prefix) => ["--library", prefix]);
  const options = by.includes("trace") ? null : reportOptions(rest, files.length);
  const command = options === null
    ? ["locktrace", "query", ...paths, "--json", JSON.stringify({ selection, by })]
    : ["locktrace", "report", ...files, "--by", by.join(","), ...options];
  return [...command, ...library].map(quote).join(" ");
}

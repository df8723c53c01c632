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

/** An argument of a POSIX shell. */
function quote(text: string): string {
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/** The options of `locktrace report` that mean the selection. */
export function selectionOptions(selection: Selection): string[] {
  const options: string[] = [];
  if (selection.kinds) options.push("--kind", selection.kinds.join(","));
  if (selection.from_ns !== undefined) options.push("--from", `${selection.from_ns}ns`);
  if (selection.to_ns !== undefined) options.push("--to", `${selection.to_ns}ns`);
  if (selection.min_ns !== undefined) options.push("--min-wait", `${selection.min_ns}ns`);
  if (selection.max_ns !== undefined) options.push("--max-wait", `${selection.max_ns}ns`);
  for (const { aspect, not, in: keys } of selection.filter ?? []) {
    for (const key of keys) options.push("--where", `${aspect}${not ? "!=" : "="}${key}`);
  }
  return options;
}

/** The command line that prints what the selection has, by `by`. */
export function reportCommand(selection: Selection, by: Aspect[], paths: string[], libraries: string[]): string {
  const wanted = selection.traces ?? paths.map((_, at) => at);
  const files = wanted.map((at) => paths[at] ?? "");
  const library = libraries.flatMap((prefix) => ["--library", prefix]);
  const aspects = by.filter((aspect) => aspect !== "trace");
  return ["locktrace", "report", ...files, "--by", aspects.join(","), ...selectionOptions(selection), ...library].map(quote).join(" ");
}

/** Quantities for people, written as the command line writes them (human.rs). */

const UNITS: [number, string][] = [[1_000_000_000, "s"], [1_000_000, "ms"], [1_000, "µs"]];
/** Between a number and its unit, so that they stay on one line. */
const SPACE = "\u00a0";

/** A duration with three significant digits. */
export function duration(ns: number): string {
  if (ns < 0) return `−${duration(-ns)}`;
  for (const [unitNs, unit] of UNITS) {
    // A unit that rounds up to the next is left to the next.
    if (ns < unitNs - unitNs / 2_000) continue;
    const value = ns / unitNs;
    if (value < 9.995) return `${value.toFixed(2)}${SPACE}${unit}`;
    if (value < 99.95) return `${value.toFixed(1)}${SPACE}${unit}`;
    return `${count(Math.round(value))}${SPACE}${unit}`;
  }
  return `${Math.round(ns)}${SPACE}ns`;
}

/** A number with separators. */
export function count(number: number): string {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A share as percentage; never rounded to nothing. */
export function percent(share: number): string {
  const value = share * 100;
  return value > 0 && value < 0.1 ? `<0.1${SPACE}%` : `${value.toFixed(1)}${SPACE}%`;
}

/** `part` of `whole`; 0 if there is nothing. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** `one thing`, `2 things`. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** A point in time on the trace's axis, with as many digits as `resolutionNs` needs. */
export function instant(ns: number, resolutionNs: number): string {
  const [unitNs, unit] = resolutionNs >= 1_000_000 ? UNITS[0]! : resolutionNs >= 1_000 ? UNITS[1]! : UNITS[2]!;
  const digits = Math.max(0, Math.min(6, Math.ceil(Math.log10(unitNs / Math.max(1, resolutionNs)))));
  const [whole, fraction] = (ns / unitNs).toFixed(digits).split(".");
  return `${count(Number(whole))}${fraction === undefined ? "" : `.${fraction}`}${SPACE}${unit}`;
}

/** Reads a time such as `1.5 s`, `20ms` or `300` (seconds); null if the text is not a time. */
export function parseDuration(text: string): number | null {
  const match = /^([\d,.]+)\s*(s|ms|µs|us|ns)?$/.exec(text.trim());
  if (match === null) return null;
  const value = Number(match[1]!.replace(/,/g, ""));
  const factor = { s: 1e9, ms: 1e6, "µs": 1e3, us: 1e3, ns: 1 }[match[2] ?? "s"]!;
  return Number.isFinite(value) ? Math.round(value * factor) : null;
}

/** Formats a point in time, from nanoseconds since 1970 as text. */
export function wallClock(unixNs: string): string {
  const date = new Date(Number(BigInt(unixNs) / 1_000_000n));
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

import type { Share, Value, Wait } from "../api/types";
import { usePage } from "../state/page";
import { duration, percent, share } from "../text/units";
import { Swatch } from "./owner-legend";

/** The division of a wait over its owners. */
export function SplitBar({ wait, values }: { wait: Wait; values: Value[] }) {
  const { colours } = usePage();
  const width = (ns: number) => `${share(ns, wait.duration_ns) * 100}%`;
  return (
    <span class="split" aria-hidden="true">
      {wait.shares.map((one, at) => {
        const ink = colours(values[one.thread]);
        return <i key={at} class={`swatch ${ink.hatch === "none" ? "" : ink.hatch}`} style={{ width: width(one.duration_ns), height: "100%", border: 0, borderRadius: 0, backgroundColor: `var(${ink.name})` }} />;
      })}
    </span>
  );
}

export function splitText(wait: Wait, values: Value[]): string {
  const one = (part: Share) => `${values[part.thread]!.label} ${percent(share(part.duration_ns, wait.duration_ns))}`;
  const more = wait.more_shares.count > 0 ? [`${wait.more_shares.count} more ${duration(wait.more_shares.duration_ns)}`] : [];
  return [...wait.shares.map(one), ...more].join(", ");
}

/** The owners of a wait, with their code. */
export function SplitList({ wait, values }: { wait: Wait; values: Value[] }) {
  const { colours } = usePage();
  return (
    <ul class="split-list">
      {wait.shares.slice(0, 12).map((one, at) => (
        <li key={at}>
          <Swatch ink={colours(values[one.thread])} />
          <span class="num">{duration(one.duration_ns)}</span>
          <span class="num dim">{percent(share(one.duration_ns, wait.duration_ns))}</span>
          <span>{values[one.thread]!.label}{values[one.method]!.key !== values[one.thread]!.key && <span class="code dim"> {values[one.method]!.label}</span>}</span>
        </li>
      ))}
      {wait.shares.length > 12 && <li class="dim"><span /><span /><span /><span>and {wait.shares.length - 12} more</span></li>}
    </ul>
  );
}

import type { Group } from "../api/types";
import { count, duration, percent, share } from "../text/units";

/** The numbers of a group, named as the columns of tables are. */
export function Facts({ group, totalNs }: { group: Group; totalNs?: number }) {
  const facts: [string, string][] = [["Blocked", duration(group.duration_ns)]];
  if (totalNs !== undefined) facts.push(["Share", percent(share(group.duration_ns, totalNs))]);
  facts.push(["Waits", count(group.waits)], ["p50", duration(group.p50_ns)], ["p99", duration(group.p99_ns)]);
  facts.push(["Longest", duration(group.max_ns)], ["Threads", count(group.threads)]);
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}

import type { Value } from "../api/types";
import { usePage } from "../state/page";
import { MiddleCut } from "./code-name";
import type { Ink } from "../state/colours";

export function Swatch({ ink }: { ink: Ink }) {
  return <i class={`swatch ${ink.hatch === "none" ? "" : ink.hatch}`} style={{ backgroundColor: `var(${ink.name})` }} aria-hidden="true" />;
}

/** The colours of the owners. */
export function OwnerLegend({ values }: { values: Value[] }) {
  const { colours } = usePage();
  const inks = values.map((value) => ({ value, ink: colours(value) }));
  const known = inks.filter(({ ink }) => ink.hatch !== "others");
  const order = (name: string) => (name.startsWith("--owner") ? name : `~${name}`);
  known.sort((a, b) => (order(a.ink.name) < order(b.ink.name) ? -1 : 1));
  return (
    <ul class="legend owners" aria-label="Colours of owners">
      {known.map(({ value, ink }) => <li key={value.key}><Swatch ink={ink} /><span title={value.label}><MiddleCut text={value.label} /></span></li>)}
      {known.length < inks.length && <li><Swatch ink={{ name: "--owner-other", hatch: "others" }} /><span>other threads</span></li>}
    </ul>
  );
}

import { usePage } from "../state/page";

/** Text in which what is looked for is marked. */
export function Marked({ text }: { text: string }) {
  const { address } = usePage();
  const wanted = address.search.toLowerCase();
  if (wanted === "") return <>{text}</>;
  const pieces = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    pieces.push(text.slice(from, at), <mark>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return <>{pieces}{text.slice(from)}</>;
}

/** A name that is cut in its middle where there is no room: threads differ in their ends. */
export function MiddleCut({ text }: { text: string }) {
  const end = Math.max(Math.ceil(text.length / 2), text.length - 9);
  return (
    <span class="cut">
      <span><Marked text={text.slice(0, end)} /></span>
      <span><Marked text={text.slice(end)} /></span>
    </span>
  );
}

/** Classes in a label without their packages, for where there is little room. */
export function shortLabel(label: string): string {
  return label.replace(/\b(?:[a-z_][\w$]*\.)+(?=[A-Z])/g, "");
}

/** A class, method or thread, its package less prominent. */
export function CodeName({ text }: { text: string }) {
  const match = /^((?:[\w ]* )?(?:[a-z_][\w$]*\.)+)(\S.*)$/.exec(text);
  if (match === null) return <Marked text={text} />;
  return (
    <>
      <span class="package"><Marked text={match[1]!} /></span>
      <span class="rest"><Marked text={match[2]!} /></span>
    </>
  );
}

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Aspect, Selection } from "../api/types";
import { useQuery } from "../state/page";
import { stackQueries } from "../state/questions";
import { commonFrames, haveLockFrames, mergeChains, pathOf, place, type Step } from "../state/stack";
import type { Sheet } from "../text/sheet";
import { count, duration, percent, plural, share } from "../text/units";
import { CodeName, Marked, shortLabel } from "./code-name";
import { CopyMenu } from "./copy-menu";
import { Facts } from "./facts";
import { Place } from "./place";
import { FrameDetail } from "./frame-detail";

type Side = "waiter" | "owner";
const METHOD: Record<Side, Aspect> = { waiter: "method", owner: "owner-method" };
const HEAD: Record<Side, string> = { waiter: "Waiting", owner: "Owning, at the release" };

interface Props {
  selection: Selection;
  title: ComponentChildren;
  children?: ComponentChildren;
  totalNs?: number;
}

/** Both stacks of a selection side by side: the waiters', for what, and the owners'. */
export function Stacks({ selection, title, children, totalNs }: Props) {
  const questions = stackQueries(selection);
  const waiting = useQuery(questions.waiting);
  const owning = useQuery(questions.owning);
  const locks = useQuery(questions.locks);
  const [withLock, setWithLock] = useState(false);
  const [choices, setChoices] = useState<ReadonlyMap<string, string>>(new Map());
  const paths = useMemo(() => {
    if (waiting.answer === null || owning.answer === null) return null;
    const [a, b] = [mergeChains(waiting.answer, withLock), mergeChains(owning.answer, withLock)];
    const side = (name: Side) => new Map([...choices].filter(([key]) => key.startsWith(name)).map(([key, id]) => [key.slice(name.length), id]));
    const waiter = pathOf(a, side("waiter"));
    const owner = pathOf(b, side("owner"));
    return { waiter, owner, total: { waiter: a.weight, owner: b.weight }, common: commonFrames(waiter, owner) };
  }, [waiting.answer, owning.answer, choices, withLock]);

  const isLoading = waiting.isLoading || owning.isLoading;
  if (paths === null) return <section class="card stacks"><p class="dim">{waiting.error ?? "Reading…"}</p></section>;
  const group = waiting.answer!.groups.find((one) => one.path.length === 0)!;
  const choose = (side: Side, path: string, id: string) => setChoices(new Map([...choices, [side + path, id]]));
  const rows = Math.max(paths.waiter.length, paths.owner.length);

  return (
    <section class={`card stacks ${isLoading ? "loading" : ""}`} aria-label="Both stacks">
      <div class="row spread">
        <h2>{title}</h2>
        <CopyMenu what="both stacks" sheet={() => stackSheet(paths)} />
      </div>
      <Facts group={group} totalNs={totalNs} />
      {children}
      {(haveLockFrames(waiting.answer!) || haveLockFrames(owning.answer!)) && (
        <label class="small"><input type="checkbox" checked={withLock} onChange={(event) => setWithLock(event.currentTarget.checked)} /> Frames inside of the lock</label>
      )}
      {group.waits === 0 ? <p class="dim">Nobody waited here.</p> : (
        <div class="stack-pair">
          <div class="stack-lock"><LockLine answer={locks.answer} /></div>
          {(["waiter", "owner"] as Side[]).map((side) => (
            <div key={side} class={`side-${side}`}>
              <div class={`stack-head ${side}`}><span>{HEAD[side]}</span></div>
              <ol>
                {paths[side].map((step, at) => {
                  const fromEnd = paths[side].length - 1 - at;
                  // Frames that both have in common are in the same line.
                  const gap = fromEnd === paths.common - 1 ? rows - paths[side].length : 0;
                  return <FrameRow key={`${at}:${step.node.id}`} step={step} side={side} gap={gap} total={paths.total[side]} isCommon={fromEnd < paths.common} onChoose={choose} />;
                })}
              </ol>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

function LockLine({ answer }: { answer: ReturnType<typeof useQuery>["answer"] }) {
  if (answer === null) return null;
  const of = (depth: number) => answer.groups.filter((group) => group.path.length === depth).sort((a, b) => b.duration_ns - a.duration_ns);
  const [classes, locks] = [of(1), of(2)];
  const [first] = classes;
  if (first === undefined) return null;
  const total = answer.groups.find((group) => group.path.length === 0)!.duration_ns;
  const others = classes.length - 1;
  const ofFirst = locks.filter((group) => group.path[0] === first.path[0]);
  const object = ofFirst.length === 1 ? answer.values[ofFirst[0]!.path[1]!]!.label : plural(ofFirst.length, "object");
  return (
    <>
      Lock: <span class="code"><CodeName text={answer.values[first.path[0]!]!.label} /></span> · {object}
      {others > 0 && ` · ${percent(share(first.duration_ns, total))} of it; ${plural(others, "other class").replace("classs", "classes")}`}
    </>
  );
}

interface RowProps {
  step: Step;
  side: Side;
  gap: number;
  total: number;
  isCommon: boolean;
  onChoose: (side: Side, path: string, id: string) => void;
}

function FrameRow({ step, side, gap, total, isCommon, onChoose }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const { node, alternatives, parentPath } = step;
  const { frame } = node;
  const weight = share(node.weight, total);
  const classes = ["frame", frame?.jdk ? "jdk" : "", isCommon ? "common" : "", node.isFirst ? "first" : ""].join(" ");
  return (
    <>
      {Array.from({ length: gap }, (_, at) => <li key={at} class="frame" aria-hidden="true" />)}
      <li class={classes}>
        {alternatives.length > 1 && (
          <select
            aria-label={`Which of ${alternatives.length} ${parentPath === "" ? "places" : "callers"}`} value={node.id}
            onChange={(event) => onChoose(side, parentPath, event.currentTarget.value)}
          >
            {alternatives.map((one) => <option key={one.id} value={one.id}>{percent(share(one.weight, total))} {optionLabel(one)}</option>)}
          </select>
        )}
        {frame === null ? <span class="method">{node.label}</span> : (
          <button class="frame-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} title={frame.key}>
            <span class="method"><Marked text={shortLabel(frame.method)} /></span>
            <span class="place"><Place frame={frame} /><span>{percent(weight)}</span></span>
          </button>
        )}
        {isOpen && frame !== null && <FrameDetail frame={frame} method={METHOD[side]} />}
        <span class="weight" style={{ width: `${weight * 100}%` }} />
      </li>
    </>
  );
}

function optionLabel(node: Step["node"]): string {
  if (node.frame === null) return node.label;
  const name = node.frame.method.split(".").slice(-2).join(".");
  return `${name} ${place(node.frame)}`;
}

function stackSheet(paths: Record<Side, Step[]> & { total: Record<Side, number> }): Sheet {
  const line = (side: Side) => (step: Step) => {
    const where = step.node.frame === null ? "" : `(${place(step.node.frame)})`;
    return [HEAD[side], `${step.node.label}${where}`, percent(share(step.node.weight, paths.total[side])), duration(step.node.weight)];
  };
  const json = (side: Side) => paths[side].map(({ node }) => ({
    method: node.label, key: node.frame?.key, file: node.frame?.file, line: node.frame?.line, duration_ns: node.weight,
  }));
  return {
    title: `Both stacks: ${count(paths.waiter.length)} frames wait, ${count(paths.owner.length)} own`,
    columns: [{ name: "Side" }, { name: "Frame" }, { name: "Share", right: true }, { name: "Blocked", right: true }],
    rows: [...paths.waiter.map(line("waiter")), ...paths.owner.map(line("owner"))],
    json: { waiting: json("waiter"), owning: json("owner") },
  };
}

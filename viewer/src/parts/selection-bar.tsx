import { KINDS, type Condition, type Kind } from "../api/types";
import { ASPECT_LABELS } from "../state/aspects";
import type { Navigation } from "../state/navigation";
import { usePage, useQuery } from "../state/page";
import { commandOf, widen } from "../state/selection";
import { duration } from "../text/units";
import { CodeName } from "./code-name";
import { copyText } from "./copy-menu";
import { CloseIcon, RedoIcon, UndoIcon } from "./icons";

/** The selection as breadcrumbs: what all views are about, and how to get back. */
export function SelectionBar({ navigation }: { navigation: Navigation }) {
  const { model, address, go, say } = usePage();
  const { selection } = address;
  const command = commandOf(selection, address.by, model.traces.map((trace) => trace.path), model.libraries);
  const { from_ns, to_ns, min_ns, max_ns, filter = [] } = selection;
  const isNarrowed = Object.keys(selection).length > 0;
  const copy = async () => {
    await copyText(command);
    say("Copied the command");
  };
  const without = (...fields: (keyof typeof selection)[]) => {
    const next = { ...selection };
    fields.forEach((field) => delete next[field]);
    go({ selection: next, at: [] });
  };

  return (
    <div class="row" role="group" aria-label="Selection">
      <div class="crumbs">
        <KindMenu />
        {(from_ns !== undefined || to_ns !== undefined) && (
          <Crumb text={address.last === null ? `${duration(from_ns ?? 0)} – ${duration(to_ns ?? model.duration_ns)}` : `the last ${duration(address.last)}`} name="time" onRemove={() => without("from_ns", "to_ns")} />
        )}
        {(min_ns !== undefined || max_ns !== undefined) && (
          <Crumb text={`${duration(min_ns ?? 0)} – ${max_ns === undefined ? "∞" : duration(max_ns)}`} name="wait takes" onRemove={() => without("min_ns", "max_ns")} />
        )}
        {selection.traces?.map((trace) => (
          <Crumb key={trace} text={model.traces[trace]?.path ?? String(trace)} name="trace" onRemove={() => go({ selection: { ...selection, traces: selection.traces!.length > 1 ? selection.traces!.filter((one) => one !== trace) : undefined } })} />
        ))}
        {filter.map((condition) => <ConditionCrumbs key={`${condition.aspect}${condition.not}`} condition={condition} />)}
        {isNarrowed && <button class="quiet small" onClick={() => go({ selection: {}, at: [], last: null })}>Clear all</button>}
      </div>
      <button class="icon quiet" disabled={!navigation.canUndo} onClick={() => history.back()} title="Undo (u)" aria-label="Undo"><UndoIcon /></button>
      <button class="icon quiet" disabled={!navigation.canRedo} onClick={() => history.forward()} title="Redo (U)" aria-label="Redo"><RedoIcon /></button>
      <button class="small" onClick={() => void copy()} title={command} data-command={command}>Copy as command</button>
    </div>
  );
}

function KindMenu() {
  const { model, address, go } = usePage();
  const selected = address.selection.kinds ?? ["contention"];
  const present = KINDS.filter((kind) => kind === "contention" || model.totals.some((total) => total.kind === kind && total.waits > 0) || selected.includes(kind));
  if (present.length === 1) return null;
  const turn = (kind: Kind) => {
    const next = KINDS.filter((one) => (one === kind ? !selected.includes(one) : selected.includes(one)));
    if (next.length === 0) return;
    const { kinds: _, ...rest } = address.selection;
    go({ selection: next.join() === "contention" ? rest : { ...rest, kinds: next }, at: [] });
  };
  return (
    <span class="segmented" role="group" aria-label="Kinds of waiting">
      {present.map((kind) => <button key={kind} class="small" aria-pressed={selected.includes(kind)} onClick={() => turn(kind)}>{kind}</button>)}
    </span>
  );
}

function Crumb({ text, name, not, onRemove }: { text: string; name: string; not?: boolean; onRemove: () => void }) {
  return (
    <span class={`crumb ${not ? "not" : ""}`} title={text}>
      <span>{not ? "not " : ""}{name} <b><CodeName text={text} /></b></span>
      <button aria-label={`Remove ${name} ${text}`} onClick={onRemove}><CloseIcon /></button>
    </span>
  );
}

/** A condition's keys, by their labels. */
function ConditionCrumbs({ condition }: { condition: Condition }) {
  const { address, go } = usePage();
  const { aspect, not } = condition;
  const { answer } = useQuery({ selection: { kinds: [...KINDS], filter: [{ aspect, in: condition.in }] }, by: [aspect], limit: 100 });
  const labels = new Map(answer?.values.map((value) => [value.key, value.label]));
  return (
    <>
      {condition.in.map((key) => (
        <Crumb
          key={key} name={ASPECT_LABELS[aspect]} text={labels.get(key) ?? key} not={not}
          onRemove={() => go({ selection: widen(address.selection, condition, key), at: [] })}
        />
      ))}
    </>
  );
}

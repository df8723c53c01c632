import { useEffect, useMemo, useState } from "preact/hooks";
import { KINDS, type Aspect, type Store } from "../api/types";
import { ASPECT_LABELS, sideOf } from "../state/aspects";
import { usePage } from "../state/page";
import { narrow } from "../state/selection";
import { duration, plural } from "../text/units";
import { CodeName } from "./code-name";
import { Dialog } from "./dialog";

const SEARCHED: Aspect[] = ["lock-class", "owner-method", "method", "owner-caller", "caller", "owner-thread", "thread", "lock"];
const SHOWN = 60;

interface Hit {
  aspect: Aspect;
  key: string;
  label: string;
  text: string;
  duration: number;
}

async function everything(store: Store, signal: AbortSignal): Promise<Hit[]> {
  const answers = await Promise.all(SEARCHED.map((aspect) => store.query({ selection: { kinds: [...KINDS] }, by: [aspect], limit: 5_000 }, signal)));
  return answers.flatMap((answer, at) =>
    answer.groups.filter((group) => group.path.length === 1).map((group) => {
      const value = answer.values[group.path[0]!]!;
      return { aspect: SEARCHED[at]!, key: value.key, label: value.label, text: `${value.label} ${value.long ?? ""} ${value.key}`.toLowerCase(), duration: group.duration_ns };
    }),
  );
}

/** One box for classes, methods, threads and locks. */
export function Search({ onClose }: { onClose: () => void }) {
  const { store, address, go } = usePage();
  const [text, setText] = useState(address.search);
  const [all, setAll] = useState<Hit[] | null>(null);
  const [active, setActive] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    everything(store, controller.signal).then(setAll, () => {});
    return () => controller.abort();
  }, [store]);

  const hits = useMemo(() => {
    const wanted = text.toLowerCase().trim();
    const found = wanted === "" ? [] : (all ?? []).filter((hit) => hit.text.includes(wanted));
    return found.sort((a, b) => b.duration - a.duration);
  }, [all, text]);
  const shown = hits.slice(0, SHOWN);
  const at = Math.min(active, shown.length - 1);
  const choose = (hit: Hit | undefined, not: boolean) => {
    // Without a hit, or if asked for, matches are only marked in all views.
    if (hit === undefined) go({ search: text });
    else go({ search: text, selection: narrow(address.selection, hit.aspect, hit.key, not), at: [], view: address.view === "summary" ? "tree" : address.view });
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setActive(Math.max(0, Math.min(shown.length - 1, at + step)));
      document.getElementById(`hit-${at + step}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(event.ctrlKey ? undefined : shown[at], event.shiftKey);
    }
  };

  return (
    <Dialog title="Search" onClose={onClose} hasHead={false}>
      <input
        class="search-input" type="search" role="combobox" aria-label="Search classes, methods, threads and locks" aria-controls="hits" aria-expanded={shown.length > 0}
        aria-activedescendant={shown.length > 0 ? `hit-${at}` : undefined} placeholder="Class, method, thread or lock" value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        ref={(input) => {
          if (input !== null && document.activeElement !== input) input.focus();
        }}
      />
      {shown.length > 0 && (
        <div class="results" role="listbox" id="hits" aria-label="Found">
          {shown.map((hit, index) => (
            // The field has the focus and takes the keys.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
            <div class="hit" key={`${hit.aspect} ${hit.key}`} id={`hit-${index}`} role="option" aria-selected={index === at} onClick={(event) => choose(hit, event.shiftKey)}>
              <span class={`small ${sideOf(hit.aspect)}`}>{ASPECT_LABELS[hit.aspect]}</span>
              <span class="code"><CodeName text={hit.label} /></span>
              <span class="num small dim">{duration(hit.duration)}</span>
            </div>
          ))}
        </div>
      )}
      <p class="dialog-body small dim">
        {text === "" ? "Enter: only this. Shift Enter: leave it out. Ctrl Enter: mark it in all views." : all === null ? "Reading…" : `${plural(hits.length, "match").replace("matchs", "matches")}${hits.length > SHOWN ? `, the first ${SHOWN} shown` : ""}. Enter: only this. Shift Enter: leave it out. Ctrl Enter: mark all.`}
      </p>
    </Dialog>
  );
}

import { useState } from "preact/hooks";
import type { Aspect } from "../api/types";
import { ALL_ASPECTS, ASPECT_LABELS, sideOf } from "../state/aspects";
import { CloseIcon } from "./icons";

interface Props {
  by: Aspect[];
  onChange: (by: Aspect[]) => void;
}

/** The order of aspects: chips that can be dragged, or moved with the arrow keys. */
export function AspectChips({ by, onChange }: Props) {
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const move = (from: number, to: number) => {
    const next = [...by];
    const [one] = next.splice(from, 1);
    next.splice(to, 0, one!);
    onChange(next);
  };
  const rest = ALL_ASPECTS.filter((aspect) => !by.includes(aspect));
  return (
    <div class="chips" role="group" aria-label="Order of aspects">
      {by.map((aspect, at) => (
        <span
          key={aspect} class={`chip ${over === at && dragged !== null ? "over" : ""}`} draggable role="presentation"
          onDragStart={() => setDragged(at)}
          onDragEnd={() => setDragged(null)}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(at);
          }}
          onDrop={(event) => {
            event.preventDefault();
            if (dragged !== null && dragged !== at) move(dragged, at);
            setDragged(null);
            setOver(null);
          }}
        >
          <button
            class={`grip ${sideOf(aspect)}`} title="Drag, or move with the arrow keys" aria-label={`${ASPECT_LABELS[aspect]}, level ${at + 1} of ${by.length}; arrow keys move it`}
            onKeyDown={(event) => {
              const to = at + ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0);
              if (to === at || to < 0 || to >= by.length) return;
              event.preventDefault();
              move(at, to);
            }}
          >
            {ASPECT_LABELS[aspect]}
          </button>
          {by.length > 1 && (
            <button class="drop" aria-label={`Leave out ${ASPECT_LABELS[aspect]}`} onClick={() => onChange(by.filter((one) => one !== aspect))}>
              <CloseIcon />
            </button>
          )}
        </span>
      ))}
      {by.length < 8 && (
        <select
          aria-label="Then by" value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = "";
            if (value !== "") onChange([...by, value as Aspect]);
          }}
        >
          <option value="">then by…</option>
          {rest.map((aspect) => <option key={aspect} value={aspect}>{ASPECT_LABELS[aspect]}</option>)}
        </select>
      )}
    </div>
  );
}

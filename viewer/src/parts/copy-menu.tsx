import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../state/page";
import { format, type Form, type Sheet } from "../text/sheet";
import { CopyIcon } from "./icons";

/** Copies text, also where the clipboard's interface is missing (`file://` in some browsers). */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

const FORMS: [Form, string][] = [["text", "as text"], ["markdown", "as Markdown"], ["json", "as JSON"]];

/** Copies a table or a stack in one of three forms. */
export function CopyMenu({ sheet, what }: { sheet: () => Sheet; what: string }) {
  const { say } = usePage();
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("keydown", close);
    };
  }, [isOpen]);

  const copy = async (form: Form, name: string) => {
    await copyText(format(sheet(), form));
    setOpen(false);
    root.current?.querySelector("button")?.focus();
    say(`Copied ${what} ${name}`);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const items = [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  };

  return (
    <div class="menu" ref={root}>
      <button class="quiet row" aria-haspopup="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} title={`Copy ${what}`}>
        <CopyIcon /> Copy<span class="hidden"> {what}</span>
      </button>
      {isOpen && (
        <div role="menu" tabIndex={-1} aria-label={`Copy ${what}`} onKeyDown={move}>
          {FORMS.map(([form, name]) => (
            <button role="menuitem" key={form} onClick={() => void copy(form, name)}>Copy {name}</button>
          ))}
        </div>
      )}
    </div>
  );
}

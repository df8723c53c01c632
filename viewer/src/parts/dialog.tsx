import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon } from "./icons";

/** A dialog over the page; closes with Escape, or by a click outside. */
export function Dialog({ title, onClose, children, hasHead = true }: { title: string; onClose: () => void; children: ComponentChildren; hasHead?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key can come, which is the dialog's.
  useLayoutEffect(() => {
    const element = dialog.current!;
    element.showModal();
    const outside = (event: MouseEvent) => {
      if (event.target === element) element.close();
    };
    element.addEventListener("click", outside);
    return () => element.removeEventListener("click", outside);
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={title}>
      {hasHead && (
        <div class="dialog-head">
          <h2>{title}</h2>
          <button class="icon quiet" aria-label="Close" onClick={() => dialog.current!.close()}><CloseIcon /></button>
        </div>
      )}
      {children}
    </dialog>
  );
}

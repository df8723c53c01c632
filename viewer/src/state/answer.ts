import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "./page";
import type { Store } from "../api/types";

export interface Answer<T> {
  /** The last answer, also while the next one is on its way: so nothing jumps. */
  answer: T | null;
  /** The question of the answer. */
  answered: string | null;
  error: string | null;
  isLoading: boolean;
}

/** A view's place for one question at a time: asking the next one cancels the last. */
export function useAnswer<T>(key: string | null, ask: (store: Store, signal: AbortSignal) => Promise<T>): Answer<T> {
  const { store, epoch } = usePage();
  const [state, setState] = useState<Answer<T>>({ answer: null, answered: null, error: null, isLoading: true });
  const latest = useRef(ask);
  latest.current = ask;

  useEffect(() => {
    if (key === null) {
      setState({ answer: null, answered: null, error: null, isLoading: false });
      return;
    }
    const controller = new AbortController();
    // The same question again, of a trace that was read further, is no reason to dim its answer.
    setState((before) => ({ ...before, isLoading: before.answered !== key }));
    latest.current(store, controller.signal).then(
      (answer) => {
        if (!controller.signal.aborted) setState({ answer, answered: key, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const text = error instanceof Error ? error.message : String(error);
        setState((before) => ({ ...before, error: text, isLoading: false }));
      },
    );
    return () => controller.abort();
  }, [store, key, epoch]);
  return state;
}

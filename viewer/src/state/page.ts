import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Model, QueryRequest, Selection, Store } from "../api/types";
import type { Go } from "./navigation";
import type { Address } from "./address";
import type { OwnerColours } from "./colours";
import { useAnswer } from "./answer";

/** The properties of every view. */
export interface Page {
  store: Store;
  model: Model;
  /** Counts up whenever the traces were read further, so that questions are asked again. */
  epoch: number;
  address: Address;
  go: Go;
  colours: OwnerColours;
  /** Lets nothing change under a pointer that drags. */
  freeze: (isFrozen: boolean) => void;
  /** Says something to people who do not see the screen. */
  say: (text: string) => void;
  /** The folder of the program's sources on this machine, for links to editors; empty if not
   * given. */
  sourceRoot: string;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("outside of the page");
  return page;
}

/** The groups of a selection; an answer by other aspects than requested does not count. */
export function useQuery(request: QueryRequest | null) {
  const state = useAnswer(request && JSON.stringify(request), (store, signal) => store.query(request!, signal));
  const answered = state.answered === null ? null : (JSON.parse(state.answered) as QueryRequest);
  return answered === null || answered.by.join() === request?.by.join() ? state : { ...state, answer: null };
}

/** The selection without its range. */
export function wholeTime(selection: Selection): Selection {
  const { from_ns: _from, to_ns: _to, ...rest } = selection;
  return rest;
}

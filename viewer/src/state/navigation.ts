import { useEffect, useState } from "preact/hooks";
import { parseAddress, printAddress, type Address } from "./address";

/** The number of changes that can be undone, kept with each entry of the browser's history. */
interface Depth {
  depth: number;
  /** The deepest entry, so that it is known whether there is anything to redo. */
  top: number;
}

function depthNow(): Depth {
  const state: unknown = history.state;
  return state !== null && typeof state === "object" && "depth" in state ? (state as Depth) : { depth: 0, top: 0 };
}

let top = depthNow().top;

export type Go = (change: Partial<Address>, options?: { replace?: boolean }) => void;

export interface Navigation {
  address: Address;
  /** Changes the address: a step that can be undone, unless it replaces the last one. */
  go: Go;
  canUndo: boolean;
  canRedo: boolean;
}

/** The address of the page; the browser's history is what undoes. */
export function useNavigation(): Navigation {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const update = () => setFragment(location.hash);
    addEventListener("popstate", update);
    addEventListener("hashchange", update);
    return () => {
      removeEventListener("popstate", update);
      removeEventListener("hashchange", update);
    };
  }, []);

  const go: Go = (change, options) => {
    const next = printAddress({ ...parseAddress(location.hash), ...change });
    if (next === location.hash) return;
    const { depth } = depthNow();
    if (options?.replace) history.replaceState({ depth, top }, "", next);
    else {
      top = depth + 1;
      history.pushState({ depth: top, top }, "", next);
    }
    setFragment(next);
  };

  const { depth } = depthNow();
  return { address: parseAddress(fragment), go, canUndo: depth > 0, canRedo: depth < top };
}

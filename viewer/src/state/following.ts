import type { Model } from "../api/types";
import { withLast } from "./selection";
import type { Go, Navigation } from "./navigation";
import type { Address } from "./address";

/** The lengths of the newest part that can be followed. */
export const LAST: [number, string][] = [[10e9, "Last 10 s"], [60e9, "Last minute"], [600e9, "Last 10 min"]];

/** The address as views see it: with the range that the newest part has now, which ends when another range is selected. */
export function following({ address, go }: Navigation, model: Model): { address: Address; go: Go } {
  if (address.last === null) return { address, go };
  const selection = withLast(address.selection, address.last, model.duration_ns);
  const goOn: Go = (change, options) => {
    if (change.selection === undefined || "last" in change) return go(change, options);
    const { from_ns, to_ns, ...rest } = change.selection;
    const isSame = from_ns === selection.from_ns && to_ns === selection.to_ns;
    go(isSame ? { ...change, selection: rest } : { ...change, last: null }, options);
  };
  return { address: { ...address, selection }, go: goOn };
}

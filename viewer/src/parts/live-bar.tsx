import { LAST } from "../state/following";
import { usePage } from "../state/page";
import { duration, plural } from "../text/units";

/** For a trace that is still being written: the threads that wait now, and the part of it to
 * look at. */
export function LiveBar({ isPaused, onPause, isLost }: { isPaused: boolean; onPause: (isPaused: boolean) => void; isLost: boolean }) {
  const { model, address, go } = usePage();
  const waiting = model.live?.waiting ?? null;
  const isAll = address.last === null && address.selection.from_ns === undefined && address.selection.to_ns === undefined;
  const follow = (last: number | null) => {
    const { from_ns: _from, to_ns: _to, ...selection } = address.selection;
    go({ selection, last });
  };
  const state = isLost ? "The server has ended" : isPaused ? "Paused" : "Live";
  return (
    <section class={`live ${isLost ? "lost" : isPaused ? "paused" : ""}`} aria-label="The running program">
      <span class="live-state"><i aria-hidden="true" />{state}</span>
      <span class="live-now">
        {isLost ? "the page shows what it knew last" : waiting === null ? "" : waiting.threads === 0 ? "no thread waits for a lock now" : (
          <>{plural(waiting.threads, "thread")} {waiting.threads === 1 ? "waits for a lock now," : "wait for locks now, the first"} for {duration(waiting.longest_ns)}</>
        )}
      </span>
      <span class="fill" />
      <span class="segmented" role="group" aria-label="Which part to show">
        <button class="small" aria-pressed={isAll} onClick={() => follow(null)}>All</button>
        {LAST.map(([last, name]) => <button key={last} class="small" aria-pressed={address.last === last} onClick={() => follow(last)}>{name}</button>)}
      </span>
      {!isLost && <button class="small" aria-pressed={isPaused} title="p" onClick={() => onPause(!isPaused)}>{isPaused ? "Go on" : "Pause"}</button>}
    </section>
  );
}

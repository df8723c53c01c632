import { Dialog } from "./dialog";

const KEYS: [string, [string, string][]][] = [
  ["Everywhere", [
    ["1 … 7", "the views"], ["/", "search everything"], ["?", "this help"], ["u", "undo"], ["Shift u", "redo"], ["c", "copy the selection as a command"], ["0", "all of the time"], ["Esc", "close; clear the search"], ["p", "running program: pause, go on"], ["l", "running program: follow the last minute"],
  ]],
  ["Tree and tables", [
    ["↑ ↓", "rows"], ["→ ←", "open, close, go to the parent"], ["Enter", "only this"], ["Del", "leave it out"], ["*", "open all of this level"], ["Home End", "first and last row"],
  ]],
  ["Over time", [
    ["drag", "select a range"], ["Shift drag", "compare with a range"], ["← →", "move the range"], ["+ −", "make it smaller or larger"], ["w s", "timeline: zoom"], ["a d", "timeline: move"], ["]", "timeline: from a wait to its owner"], ["[", "timeline: and back"],
  ]],
  ["Flame graph", [["arrows", "to callers, callees, neighbours"], ["Enter", "zoom"], ["Backspace", "zoom out"], ["f", "only this method"]]],
];

/** All keys, what the colours mean, and a setting for links to editors. */
export function Help({ onClose, sourceRoot, onSourceRoot }: { onClose: () => void; sourceRoot: string; onSourceRoot: (root: string) => void }) {
  return (
    <Dialog title="Keys and colours" onClose={onClose}>
      <div class="dialog-body">
        <p><b class="owner">Orange</b> is who holds a lock, <b class="waiter">blue</b> is who waits for it, <b class="lock">gold</b> is the lock. Time in which a lock was free is hatched; dotted is time whose owner is not known.</p>
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <div class="keys">
              {keys.map(([key, meaning]) => <div key={key}><span>{meaning}</span><kbd>{key}</kbd></div>)}
            </div>
          </section>
        ))}
        <label>
          Folder of the program&apos;s sources on this machine, for links to VS Code and IntelliJ:{" "}
          <input type="text" value={sourceRoot} placeholder="/home/me/app/src/main/java" onChange={(event) => onSourceRoot(event.currentTarget.value)} />
        </label>
      </div>
    </Dialog>
  );
}

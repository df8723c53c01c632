import type { Frame } from "../api/types";
import { useAnswer } from "../state/answer";
import { usePage } from "../state/page";
import { narrow } from "../state/selection";
import type { Aspect } from "../api/types";

const CONTEXT = 8;

/** The file of a frame below the folder of sources, by Java's convention. */
function sourcePath(root: string, frame: Frame): string {
  const packagePath = frame.class.includes(".") ? frame.class.slice(0, frame.class.lastIndexOf(".") + 1).replace(/\./g, "/") : "";
  return `${root.replace(/\/+$/, "")}/${packagePath}${frame.file}`;
}

/** A path as a part of an address: whatever a class is called. */
function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** The actions on a frame: see its source, open an editor, filter. */
export function FrameDetail({ frame, method }: { frame: Frame; method: Aspect }) {
  const { model, address, go, sourceRoot } = usePage();
  const canAsk = model.source && frame.file !== "" && frame.line > 0;
  const source = useAnswer(canAsk ? `${frame.class}:${frame.file}:${frame.line}` : null, (store, signal) => store.source(frame, CONTEXT, signal));
  // A file that the server has found exists; the folder from the help is the user's choice for it.
  const guess = sourceRoot === "" || frame.file === "" ? null : sourcePath(sourceRoot, frame);
  const path = source.answer?.absolute ?? guess;
  const filter = (not: boolean) => go({ selection: narrow(address.selection, method, frame.key, not), at: [] });
  return (
    <div class="frame-detail">
      <div class="code">{frame.key}</div>
      <div class="row">
        <button onClick={() => filter(false)}>Only where this is the {method.replace("-", " ")}</button>
        <button onClick={() => filter(true)}>Leave it out</button>
        <button onClick={() => go({ view: "flame", sandwich: frame.key, flame: method === "method" ? "waiters" : "owners" })}>Callers and callees</button>
        {path !== null && frame.line > 0 && (
          <>
            <a href={`vscode://file/${encodePath(path.replace(/^\/+/, ""))}:${frame.line}`}>VS Code</a>
            <a href={`idea://open?file=${encodeURIComponent(path)}&line=${frame.line}`}>IntelliJ</a>
          </>
        )}
      </div>
      {source.answer && (
        <pre role="group" aria-label={`Source of ${source.answer.path}`}>
          {source.answer.lines.map((line, at) => {
            const number = source.answer!.from_line + at;
            return <span key={number} class={number === frame.line ? "hit" : ""}><span class="no">{number}</span>{line}{"\n"}</span>;
          })}
        </pre>
      )}
      {canAsk && !source.isLoading && source.answer === null && <p class="dim">{frame.file} is not below the folder of sources.</p>}
    </div>
  );
}

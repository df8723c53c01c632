import type { Frame } from "../api/types";

/** File and line of a frame; where there is little room, the file is cut, never the line. */
export function Place({ frame }: { frame: Frame }) {
  if (frame.file === "") return <span />;
  return (
    <span class="cut">
      <span>{frame.file}</span>
      <span>{frame.line < 0 ? "" : `:${frame.line}`}</span>
    </span>
  );
}

/** A table or a stack, ready to be copied. */
export interface Sheet {
  title: string;
  columns: { name: string; right?: boolean }[];
  rows: string[][];
  /** The same for programs: numbers in nanoseconds. */
  json: unknown;
}

export type Form = "text" | "markdown" | "json";

export function format(sheet: Sheet, form: Form): string {
  if (form === "json") return `${JSON.stringify(sheet.json, null, 2)}\n`;
  return form === "text" ? asText(sheet) : asMarkdown(sheet);
}

const width = (text: string) => [...text].length;

function asText({ title, columns, rows }: Sheet): string {
  const widths = columns.map((column, at) => Math.max(width(column.name), ...rows.map((row) => width(row[at] ?? ""))));
  const line = (cells: string[]) =>
    cells
      .map((cell, at) => {
        const padding = " ".repeat(Math.max(0, widths[at]! - width(cell)));
        return columns[at]?.right ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd();
  return [title, "", line(columns.map((column) => column.name)), ...rows.map(line), ""].join("\n").replace(/\u00a0/g, " ");
}

/** Names are hostile text: what Markdown would take for markup is escaped. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|#]/g, "\\$&").replace(/\u00a0/g, " ").replace(/\r?\n/g, " ");
}

function asMarkdown({ title, columns, rows }: Sheet): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    `**${escapeMarkdown(title)}**`,
    "",
    line(columns.map((column) => escapeMarkdown(column.name))),
    line(columns.map((column) => (column.right ? "---:" : "---"))),
    ...rows.map((row) => line(row.map(escapeMarkdown))),
    "",
  ].join("\n");
}

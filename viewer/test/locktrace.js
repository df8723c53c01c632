// The command line, and the traces that the page is tested with.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const ROOT = join(here, "../..");
export const LOCKTRACE = process.env.LOCKTRACE ?? join(ROOT, "build/bin/locktrace");
export const DEMO = join(here, "fixtures/demo.lct");
export const HOSTILE = join(here, "fixtures/hostile.lct");
export const DEADLOCK = join(here, "fixtures/deadlock.lct");
const golden = join(ROOT, "crates/trace-format/tests/golden");
export const TRACES = [DEMO, HOSTILE, join(golden, "v4.lct"), join(golden, "v2-compressed.lct")];

/** Exit code 1 is a trace that is incomplete: it is still answered. */
export function locktrace(...args) {
  try {
    return execFileSync(LOCKTRACE, args, { encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (error.status === 1) return error.stdout;
    throw error;
  }
}

/** Asks `locktrace query` one question, of a trace folded to `foldTo` rows if given. */
export function ask(trace, topic, question = {}, foldTo = null) {
  const folding = foldTo === null ? [] : ["--fold-to", String(foldTo)];
  return JSON.parse(locktrace("query", trace, "--ask", topic, "--json", JSON.stringify(question), ...folding));
}

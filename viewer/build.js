// Builds the page into crates/locktrace/assets, or elsewhere: `node build.js [FOLDER]`.
// The same sources make the same bytes on every machine.
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../crates/locktrace/assets"));

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: [{ in: "src/main.tsx", out: "viewer" }, { in: "src/style/index.css", out: "viewer" }],
  outdir: out,
  bundle: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  // With `</script>` and other characters escaped, the script can stand in the page itself.
  charset: "ascii",
  legalComments: "inline",
  logLevel: "warning",
});
await copyFile(join(here, "src/viewer.html"), join(out, "viewer.html"));

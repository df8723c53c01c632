// The page's own store, for node.
import { build } from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Bundles a module of the page and loads it. */
export async function load(module) {
  const { outputFiles } = await build({
    entryPoints: [join(here, "../src", module)], bundle: true, format: "esm", target: "es2022", platform: "neutral", write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

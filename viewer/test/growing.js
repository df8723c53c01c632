// A trace that is still being written.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEMO } from "./locktrace.js";

const STEPS = 8;

function crc32c(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

/** The offset of the process in a trace's header, after magic, version, flags and start; the
 * JVM's name follows. */
const PID_AT = 20;

/** The demo's trace as this process writes it, which is there as long as the test: a step at a time. */
export function growingIn(folder, name) {
  const bytes = readFileSync(DEMO);
  const headerEnd = PID_AT + 6 + bytes.readUInt16LE(PID_AT + 4);
  assert.equal(bytes.readUInt32LE(headerEnd), crc32c(bytes.subarray(0, headerEnd)));
  bytes.writeUInt32LE(process.pid, PID_AT);
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, headerEnd)), headerEnd);
  const file = join(folder, name);
  const size = Math.ceil(bytes.length / STEPS);
  writeFileSync(file, bytes.subarray(0, size));
  let written = size;
  const grow = () => {
    appendFileSync(file, bytes.subarray(written, written + size));
    written = Math.min(bytes.length, written + size);
    return written;
  };
  return { file, grow, end: () => { while (grow() < bytes.length); } };
}

#!/usr/bin/env bash
# Builds the agent for stock JVMs to build/agent/liblocktrace.so, and checks what it exports: the
# three functions of an agent, so that nothing in the JVM can bind to anything else of it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly OUT=build/agent
readonly EXPORTS='Agent_OnAttach Agent_OnLoad Agent_OnUnload'

# By itself: together with other packages the runtime would get its C interface, too.
cargo build --quiet --release --locked --package locktrace-agent
target=$(cargo metadata --format-version 1 --no-deps --locked | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
mkdir -p "$OUT"
install -m 755 "$target/release/liblocktrace_agent.so" "$OUT/liblocktrace.so"

exported=$(nm --dynamic --defined-only "$OUT/liblocktrace.so" | awk '{ print $3 }' | sort | xargs)
[ "$exported" = "$EXPORTS" ] || {
  echo "error: $OUT/liblocktrace.so exports: expected $EXPORTS, found $exported" >&2
  exit 1
}

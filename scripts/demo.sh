#!/usr/bin/env bash
# Traces a contended program with build/jdk and prints who waited for whom.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly OUT=build/demo
readonly TRACE=$OUT/demo.lct

mkdir -p "$OUT"
build/jdk/bin/javac -d "$OUT" test/jvm/demo/*.java
rm -f "$TRACE"
build/jdk/bin/java -XX:+TraceLockContention -XX:LockContentionTraceFile="$TRACE" -cp "$OUT" demo.Demo
build/bin/locktrace report "$TRACE"

#!/usr/bin/env bash
# Traces a contended program with build/jdk, or the JDK that LOCKTRACE_JDK names,
# and prints who waited for whom.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly JDK=${LOCKTRACE_JDK:-build/jdk}
readonly OUT=build/demo
readonly TRACE=$OUT/demo.lct

mkdir -p "$OUT"
"$JDK/bin/javac" -d "$OUT" test/jvm/demo/*.java
rm -f "$TRACE"
"$JDK/bin/java" -XX:+TraceLockContention -XX:LockContentionTraceFile="$TRACE" -cp "$OUT" demo.Demo
build/bin/locktrace report "$TRACE"
printf '\nTo look at it in a browser: build/bin/locktrace view %s\n' "$TRACE"

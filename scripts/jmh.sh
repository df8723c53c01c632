#!/usr/bin/env bash
# Builds the JMH profiler and suite, and runs the suite on the traced JDK:
#   scripts/jmh.sh build | quick [CASES] | short [CASES] | full [CASES]
# CASES is a regular expression that a case's name must match.
# LOCKTRACE_JDK, LOCKTRACE_JDK_STOCK and LOCKTRACE_BIN choose other programs.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly TRACED=${LOCKTRACE_JDK:-$PWD/build/jdk}
readonly STOCK=${LOCKTRACE_JDK_STOCK:-$PWD/build/jdk-stock}
readonly LOCKTRACE=${LOCKTRACE_BIN:-$PWD/build/bin/locktrace}
readonly TARGET=test/jmh/target

if [[ ! ${1-} =~ ^(build|quick|short|full)$ ]]; then
  echo "usage: scripts/jmh.sh build | quick [CASES] | short [CASES] | full [CASES]" >&2
  exit 2
fi

JAVA_HOME=$STOCK mvn --batch-mode --quiet --file test/jmh/pom.xml package
if [[ $1 != build ]]; then
  "$STOCK/bin/java" -cp "$TARGET/benchmarks.jar:$TARGET/locktrace-jmh.jar" tools.locktrace.suite.Suite \
    "$1" "$TRACED/bin/java" "$LOCKTRACE" "$TARGET/traces" "${@:2}"
fi

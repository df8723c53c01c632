#!/bin/sh
# Measures the tracer on this machine, with nothing but what this archive has: `run` of bench/pack. --help lists
# the options; the results are in build/bench/survey unless --output names another folder.
set -eu

case $0 in
  */*) pack=$(cd "${0%/*}" && pwd) ;;
  *) echo "run: expected to be started by its path, as in ./run, found: $0" >&2; exit 2 ;;
esac

# Would change what is measured, or what it is linked with.
unset LD_LIBRARY_PATH LD_PRELOAD JAVA_TOOL_OPTIONS _JAVA_OPTIONS
export LOCKTRACE_PACK="$pack"
export LOCKTRACE_JDK="$pack/build/jdk"
export LOCKTRACE_JDK_STOCK="$pack/build/jdk-stock"
export LOCKTRACE_BIN="$pack/build/bin/locktrace"
export LOCKTRACE_AGENT="$pack/build/agent/liblocktrace.so"
export LOCKTRACE_PROGRAMS="$pack/programs"
export LOCKTRACE_SCRATCH="$pack/build/scratch"

exec "$pack/lib/ld.so" --library-path "$pack/lib" "$pack/libexec/locktrace-bench" survey "$@"

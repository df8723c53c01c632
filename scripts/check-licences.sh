#!/usr/bin/env bash
# Checks the licences of all dependencies.
#
# Code linked into libjvm.so becomes part of a GPL-2.0 work, so each of its dependencies must offer
# a licence that GPL-2.0 is compatible with (Apache-2.0 alone is not). Everything else must merely
# be free to build and test with.
set -euo pipefail
cd "$(dirname "$0")/.."

linked_into_jvm='MIT|BSD-2-Clause|BSD-3-Clause|ISC|Zlib|0BSD|CC0-1.0|Unlicense|MIT-0|BSL-1.0'
anywhere="$linked_into_jvm|Apache-2.0|Apache-2.0 WITH LLVM-exception|Unicode-3.0|Unicode-DFS-2016|MPL-2.0|NCSA"
# Dependencies of the tests alone are not distributed.
in_tests="$anywhere|CDDL-1.0"
ours='GPL-2.0-only WITH Classpath-exception-2.0'

# Prints "name version|licence expression" for the given cargo tree arguments.
dependencies() {
  cargo tree --locked --prefix none --format '{p}|{l}' "$@" | sed -E '/^$/d; s/ \(.*\)\|/|/; s/ \(\*\)$//' | sort -u
}

# True if a choice among the expression's alternatives is in the allowed list.
# An expression is alternatives joined by OR (or the older "/"), each of them
# licences joined by AND.
allowed() {
  local expression=$1 list=$2 alternative licence good
  while IFS= read -r alternative; do
    good=yes
    while IFS= read -r licence; do
      licence=$(sed -E 's/^[ (]+//; s/[ )]+$//' <<<"$licence")
      grep -qxE "$list" <<<"$licence" || good=no
    done <<<"${alternative// AND /$'\n'}"
    [ "$good" = yes ] && return 0
  done < <(sed -E 's# OR |/#\n#g' <<<"$expression")
  return 1
}

check() {
  local list=$1 what=$2 line licence count=0 bad=0
  shift 2
  while IFS= read -r line; do
    licence=${line##*|}
    count=$((count + 1))
    if [ "$licence" != "$ours" ] && ! allowed "$licence" "$list"; then
      echo "licence not allowed for $what: ${line%|*} (${licence:-none stated})" >&2
      bad=$((bad + 1))
    fi
  done < <(dependencies "$@")
  [ "$count" -gt 0 ] || { echo "no dependency of $what found" >&2; return 1; }
  [ "$bad" -eq 0 ] && echo "licences of $count packages ($what): fine"
}

check "$linked_into_jvm" "what is linked into libjvm.so" -p rust-tracer --edges normal
check "$linked_into_jvm" "what is linked into liblocktrace.so" -p locktrace-agent --edges normal
check "$anywhere" "the workspace" --workspace --edges normal,build
check "$in_tests" "the workspace's tests" --workspace --edges normal,build,dev

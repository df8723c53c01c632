#!/usr/bin/env bash
# Runs commands at once:
#   scripts/at-once.sh NAME COMMAND [NAME COMMAND]...
# What one prints comes in one piece when it has ended, and goes to build/logs/NAME.log meanwhile. Exits
# with 1 if any of them has failed.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly LOG_DIR=$ROOT/build/logs

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"

run() {
  local name=$1 command=$2 log=$LOG_DIR/$1.log started=$SECONDS status=0 reporter
  say "start   $name"
  report_each_minute "$name" "$log" &
  reporter=$!
  bash -c "$command" >"$log" 2>&1 </dev/null || status=$?
  kill "$reporter"
  cat "$log"
  if ((status != 0)); then
    say "FAILED  $name, after $(elapsed_since "$started"): $command"
    return 1
  fi
  say "done    $name ($(elapsed_since "$started"))"
}

report_each_minute() {
  local name=$1 log=$2
  # It may outlive this loop, and must not hold a pipe open that long.
  while sleep 60 >/dev/null 2>&1; do
    say "...     $name: $(tail -n 1 "$log" | cut -c1-100)"
  done
}

(($# > 0 && $# % 2 == 0)) ||
  die "$EXIT_USAGE" "usage: scripts/at-once.sh NAME COMMAND [NAME COMMAND]..."
mkdir -p "$LOG_DIR"
# Each in a process group of its own, as otherwise it would ignore what interrupts this script, and go on.
set -m
running=()
trap 'for process in "${running[@]}"; do kill -- "-$process"; done 2>/dev/null; exit 130' INT TERM
while (($# > 0)); do
  run "$1" "$2" &
  running+=("$!")
  shift 2
done
failed=0
for process in "${running[@]}"; do
  wait "$process" || failed=1
done
exit "$failed"

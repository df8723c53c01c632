#!/usr/bin/env bash
# Builds what `make demo` needs: build/jdk and, at the same time, the command line, with the command that is
# given. Each leaves processors idle that the other can use: downloads, links, the compiler's longest files.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
# shellcheck disable=SC2034 # for run_step
LOG_DIR=$ROOT/build/logs/tools

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

jdk=
tools=

# stop NAME PID: the build with all processes that it has started.
stop() {
  local name=$1 pid=$2
  if [[ -n $pid ]] && kill -0 "$pid" 2>/dev/null; then
    kill -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    clear_live_line
    notice "the build of the $name was stopped; what it has built is used again"
  fi
}

stop_both() {
  trap '' INT TERM HUP # make passes on what a terminal or a supervisor has sent to all already
  trap - EXIT
  stop JDK "$jdk"
  stop "command line" "$tools"
}

main() {
  (($# > 0)) || die "$EXIT_USAGE" "expected the command that builds the command line"
  require_x86_64_linux
  require_packages "${JDK_PACKAGES[@]}" # the command line is linked with their compiler
  require_cargo

  trap stop_both EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  set -m # a process group for each, by which it can be stopped
  "$ROOT/scripts/build-openjdk.sh" </dev/null &
  jdk=$!
  BEHIND=$jdk run_step "$EXIT_BUILD" "build command line" "$@" &
  tools=$!
  set +m
  # Whichever fails first decides.
  wait -n "$jdk" "$tools"
  wait "$jdk"
  wait "$tools"
}

main "$@"

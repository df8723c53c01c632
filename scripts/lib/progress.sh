# shellcheck shell=bash
# Steps with a log, elapsed time and a readable failure.
#
# Sourced by scripts that set LOG_DIR. Everything is written to stderr, so that
# stdout stays free for results.

# The exit codes of the scripts that use this library, each of them some.
# shellcheck disable=SC2034
readonly EXIT_BUILD=1 EXIT_USAGE=2 EXIT_MACHINE=3 EXIT_SOURCE=4 EXIT_PATCH=5

say() {
  printf '%s\n' "$*" >&2
}

notice() {
  say "note: $*"
}

# die CODE MESSAGE...
die() {
  local code=$1
  shift
  say "error: $*"
  exit "$code"
}

# elapsed_since SECONDS: a duration as people write it, for example "3m 05s".
elapsed_since() {
  local seconds=$((SECONDS - $1))
  if ((seconds < 60)); then
    printf '%ds' "$seconds"
  else
    printf '%dm %02ds' $((seconds / 60)) $((seconds % 60))
  fi
}

# run_step CODE NAME COMMAND...: runs the command with its output in a log of
# its own. A failure prints the lines of the log that matter, and exits with CODE.
run_step() {
  local code=$1 name=$2 started=$SECONDS status ticker log
  shift 2
  log=$LOG_DIR/${name// /-}.log
  mkdir -p "$LOG_DIR"
  : >"$log"

  show_progress "$name" "$started" "$log" 8>&- 9>&- &
  ticker=$!
  # The command must not stand in a condition: bash would ignore `set -e` in it.
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1 </dev/null 8>&- 9>&-
  status=$?
  set -e
  { kill "$ticker" && wait "$ticker"; } 2>/dev/null || true
  clear_live_line

  if ((status != 0)); then
    say "FAILED  $name, after $(elapsed_since "$started"), log: $log"
    print_relevant_lines "$log"
    exit "$code"
  fi
  say "done    $name ($(elapsed_since "$started"))"
}

# lock FD FILE: waits for FILE's lock and holds it until FD, 8 or 9, is closed or
# given another file. Steps do not inherit it: a process that outlives the script
# would keep it.
lock() {
  local fd=$1 file=$2
  eval "exec $fd>\"\$file\""
  if ! flock --nonblock "$fd"; then
    say "waiting for another build, which holds $file"
    flock "$fd"
  fi
}

# On a terminal one live line; elsewhere a line at the start and one a minute.
show_progress() {
  local name=$1 started=$2 log=$3 last
  # Ends with the script that started it, even if that was killed.
  local parent=$$
  if [[ ! -t 2 ]]; then
    say "start   $name"
  fi
  while kill -0 "$parent" 2>/dev/null; do
    if [[ -t 2 ]]; then
      last=$(tail -n 1 "$log" | tr -cd '[:print:]')
      printf '\r\033[K%-8s%s (%s)  %.50s' '...' "$name" "$(elapsed_since "$started")" "${last##*/}" >&2
      sleep 1
    else
      # It may outlive this loop, and must not hold a pipe open that long.
      sleep 60 >/dev/null 2>&1
      say "...     $name ($(elapsed_since "$started"))"
    fi
  done
}

clear_live_line() {
  if [[ -t 2 ]]; then
    printf '\r\033[K' >&2
  fi
}

# The first error that a compiler, make, patch or apt reported, with what
# surrounds it; the end of the log if none of them did.
print_relevant_lines() {
  local log=$1 first
  first=$(grep -nEm1 '(^|[^-_a-zA-Z])([Ee]rror|ERROR|E):|FAILED|undefined reference|No rule to make|\*\*\*' "$log" | cut -d: -f1 || true)
  if [[ -n $first ]]; then
    sed -n "$((first > 3 ? first - 3 : 1)),$((first + 20))p" "$log" | cut -c1-400 | sed 's/^/  | /' >&2
  else
    tail -n 25 "$log" | cut -c1-400 | sed 's/^/  | /' >&2
  fi
}

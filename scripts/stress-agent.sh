#!/usr/bin/env bash
# Runs programs on stock JVMs that are hard on the agent, for as long as one likes. See --help, and
# test/jvm/README.md.
set -euo pipefail
shopt -s inherit_errexit nullglob

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/options.sh
. "$ROOT/scripts/lib/options.sh"
# shellcheck source=lib/stress.sh
. "$ROOT/scripts/lib/stress.sh"

readonly STOCK=${LOCKTRACE_JDK_STOCK:-$ROOT/build/jdk-stock}
readonly LATER=${LOCKTRACE_STOCK_JDKS:-$ROOT/build/stock-jdks}
readonly LOCKTRACE=${LOCKTRACE_BIN:-$ROOT/build/bin/locktrace}
readonly AGENT=${LOCKTRACE_AGENT:-$ROOT/build/agent/liblocktrace.so}
readonly SOURCES=$ROOT/test/jvm/scenarios
readonly WORK=${LOCKTRACE_STRESS_DIR:-$ROOT/build/stress-agent}
LOG_DIR=$WORK/logs

# In addition to those of lib/progress.sh.
readonly EXIT_FAILED=1

# A run that takes longer hangs.
readonly RUN_LIMIT_SECONDS=300
readonly ATTACHMENTS=50

readonly STRESSES=(random churn redefined attached profiler)
# Needs virtual threads.
readonly VIRTUAL_STRESSES=(crowd virtual)
readonly COLLECTORS=(SerialGC ParallelGC G1GC)
readonly MODES=("" "-Xint" "-XX:TieredStopAtLevel=1")
readonly LITTLE_MEMORY="-Xmx48m -XX:MaxMetaspaceSize=32m -XX:ReservedCodeCacheSize=16m"
readonly PROFILER_EVENTS=("event=itimer" "lock=1us" "event=ctimer,cstack=vm")

MINUTES=10
JDKS=()
ONLY=()
SEED=${RANDOM}

usage() {
  cat <<END
Usage: scripts/stress-agent.sh [OPTION]...

Runs programs of test/jvm/scenarios again and again on stock JVMs under the agent, with each
collector and in turn with each way to compile: random contention, class loaders that come and go,
also while a second agent redefines their classes, $ATTACHMENTS attachments and detachments,
async-profiler in the same JVM, and from JDK 21 on virtual threads, up to 100,000 at once. The
programs check themselves; besides, no JVM may crash, hang or complain, and each trace must be readable.

  --minutes N     for each JDK, all programs together (default: $MINUTES)
  --jdk DIR       a JDK or runtime; may be given again (default: build/jdk-stock and those in
                  build/stock-jdks)
  --only NAME     one program; may be given again: ${STRESSES[*]} ${VIRTUAL_STRESSES[*]}
  --seed N        where random numbers begin (default: at random)
  --help          this text

Environment:
  LOCKTRACE_JDK_STOCK, LOCKTRACE_STOCK_JDKS, LOCKTRACE_BIN, LOCKTRACE_AGENT
                  other programs than build/jdk-stock, build/stock-jdks, build/bin/locktrace and
                  build/agent/liblocktrace.so
  LOCKTRACE_STRESS_DIR
                  where runs that failed are kept (default: build/stress-agent)

Exit codes:
  0  nothing failed               3  the machine lacks a program
  1  a run failed                 2  wrong usage
END
}

parse_options() {
  while (($# > 0)); do
    case $1 in
    --minutes)
      MINUTES=$(number_of "$@")
      shift
      ;;
    --jdk)
      JDKS+=("$(realpath --canonicalize-missing --no-symlinks "$(value_of "$@")")")
      shift
      ;;
    --only)
      ONLY+=("$(value_of "$@")")
      [[ " ${STRESSES[*]} ${VIRTUAL_STRESSES[*]} " == *" $2 "* ]] || die "$EXIT_USAGE" "--only: no such program: $2 (see --help)"
      shift
      ;;
    --seed)
      SEED=$(number_of "$@")
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) die "$EXIT_USAGE" "unknown option: $1 (see --help)" ;;
    esac
    shift
  done
  ((${#JDKS[@]} > 0)) || JDKS=("$STOCK" "$LATER"/*)
}

require_programs() {
  local jdk
  [[ -x $STOCK/bin/javac ]] || die "$EXIT_MACHINE" "no JDK at $STOCK: run 'make jdk-stock'"
  [[ -x $LOCKTRACE ]] || die "$EXIT_MACHINE" "no program $LOCKTRACE: run 'make tools'"
  [[ -f $AGENT ]] || die "$EXIT_MACHINE" "no library $AGENT: run 'make agent'"
  for jdk in "${JDKS[@]}"; do
    [[ -x $jdk/bin/java ]] || die "$EXIT_MACHINE" "no Java at $jdk: run 'make jdk-stock stock-jdks'"
  done
}

# choose STRESS TURN: sets FLAGS and PROGRAM to what the stress runs; which
# variant depends on the turn.
choose() {
  local stress=$1 turn=$2 seed=$((SEED + $2)) variant
  FLAGS=(-Xmx256m "-agentpath:$AGENT=file=trace.lct")
  PROGRAM=(RandomContention "$seed")
  case $stress in
  random) ;;
  churn | redefined)
    read -ra FLAGS <<<"$LITTLE_MEMORY"
    FLAGS+=("-agentpath:$AGENT=file=trace.lct")
    PROGRAM=(ShortClasses 500)
    [[ $stress != redefined ]] || FLAGS+=("-javaagent:$WORK/programs/agent.jar")
    ;;
  attached)
    FLAGS=(-Xmx256m)
    PROGRAM=(EndlessContention)
    ;;
  profiler)
    variant=${PROFILER_EVENTS[turn / ${#PROFILERS[@]} % ${#PROFILER_EVENTS[@]}]}
    FLAGS+=("-agentpath:$(profiler_agent "$turn")=start,$variant,interval=200us,collapsed,file=profile.txt")
    PROGRAM=(HoldsOfLocks monitor 8 2000 20000 50000 5000 0)
    ;;
  crowd)
    FLAGS+=(-Xmx1g -Dscenarios.threads=virtual)
    PROGRAM=(VirtualCrowd 100000)
    ;;
  virtual)
    variant=(monitor nonfair fair write stamped mutex)
    FLAGS+=(-Dscenarios.threads=virtual -Djdk.virtualThreadScheduler.parallelism=16)
    PROGRAM=(HoldsOfLocks "${variant[turn % ${#variant[@]}]}" 16 2000 20000 300000 3000 0)
    ;;
  esac
}

# run_stress JDK STRESS SECONDS: as often as there is time, at least once.
run_stress() {
  local jdk=$1 stress=$2 end=$((SECONDS + $3)) started=$SECONDS runs=0 failed=0
  while :; do
    run_once "$jdk" "$stress" "$TURN" || failed=$((failed + 1))
    runs=$((runs + 1))
    TURN=$((TURN + 1))
    ((SECONDS < end)) || break
  done
  RUNS=$((RUNS + runs))
  FAILED=$((FAILED + failed))
  printf '%-10s %-10s %5d runs %5d failed  %s\n' "${jdk##*/}" "$stress" "$runs" "$failed" "$(elapsed_since "$started")"
}

# run_once JDK STRESS TURN: false if anything was wrong; then the directory of the run stays.
run_once() {
  local jdk=$1 stress=$2 turn=$3 collector mode directory command fault status=0
  directory=$WORK/runs/${jdk##*/}-$stress-$turn
  collector=${COLLECTORS[turn % ${#COLLECTORS[@]}]}
  read -ra mode <<<"${MODES[turn / ${#COLLECTORS[@]} % ${#MODES[@]}]}"
  # To change all classes takes an interpreter seconds.
  [[ $stress != attached ]] || mode=()
  choose "$stress" "$turn"
  rm -rf "$directory"
  mkdir -p "$directory"
  command=("$jdk/bin/java" -Xverify:all "-XX:+Use$collector" "${mode[@]}"
    "-Dscenarios.natives=$WORK/programs/libscenarios.so"
    "${FLAGS[@]}" -cp "$WORK/programs/classes" "scenarios.${PROGRAM[0]}" "${PROGRAM[@]:1}")
  printf '%q ' "${command[@]}" >"$directory/command"
  mkfifo "$directory/stdin"
  (
    cd "$directory"
    unset JAVA_TOOL_OPTIONS
    # Lets a JVM that hangs print its threads.
    exec timeout --signal=QUIT --kill-after=20 "$RUN_LIMIT_SECONDS" "${command[@]}"
  ) >"$directory/stdout" 2>"$directory/stderr" <"$directory/stdin" &
  local pid=$!
  exec 7>"$directory/stdin"
  if [[ $stress == attached ]]; then
    attach_repeatedly "$pid" "$directory" || status=$?
    printf '\n' >&7
  fi
  exec 7>&-
  wait "$pid" || status=$?
  fault=$(fault_of "$directory" "$status")
  if [[ -z $fault ]]; then
    rm -rf "$directory"
    return 0
  fi
  say "FAILED  $stress on ${jdk##*/} with $collector ${mode[*]}: $fault, see $directory"
  return 1
}

# attach_repeatedly PID DIRECTORY: traces the JVM that runs below PID again and again.
attach_repeatedly() {
  local pid=$1 directory=$2 java='' round
  until grep -q running "$directory/stdout"; do
    kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
  java=$(pgrep --parent "$pid")
  for ((round = 1; round <= ATTACHMENTS; round++)); do
    rm -f "$directory/trace.lct"
    "$LOCKTRACE" attach "$java" --agent "$AGENT" -- "file=$directory/trace.lct" || return 1
    sleep "0.$((RANDOM % 3))"
    "$LOCKTRACE" detach "$java" --agent "$AGENT" || return 1
  done >"$directory/attachments" 2>&1
}

# fault_of DIRECTORY STATUS: prints what was wrong with a run, if anything was.
fault_of() {
  local directory=$1 status=$2 stat=$1/stat.json logs=("$1"/hs_err*)
  if ((${#logs[@]} > 0)); then
    printf 'the JVM crashed'
  elif ((status == 124 || status == 137)); then
    printf 'it ran for more than %d seconds' "$RUN_LIMIT_SECONDS"
  elif ((status != 0)); then
    printf 'exit code %d' "$status"
  elif grep -qE 'VerifyError|LinkageError|^locktrace:|^Exception' "$directory/stderr"; then
    printf 'it complained: %s' "$(grep -m 1 -E 'VerifyError|LinkageError|^locktrace:|^Exception' "$directory/stderr")"
  elif ! "$LOCKTRACE" stat --format json "$directory/trace.lct" >"$stat" 2>"$stat.err" && ! grep -q '"lost_events": [1-9]' "$stat"; then
    # Events that were lost are said to be.
    printf 'the trace is not whole'
  elif grep -qE '"unbalanced_waits": [1-9]|"retired_references": [1-9]' "$stat"; then
    printf 'the trace contradicts itself'
  fi
}

# stresses_of JDK: prints the names of those to run on a JDK.
stresses_of() {
  local stresses=("${STRESSES[@]}") stress
  # Only those know it.
  if "$1/bin/java" -XX:+UnlockExperimentalVMOptions -Djdk.tracePinnedThreads -XX:+VMContinuations -version >/dev/null 2>&1; then
    stresses+=("${VIRTUAL_STRESSES[@]}")
  fi
  for stress in "${stresses[@]}"; do
    if ((${#ONLY[@]} == 0)) || [[ " ${ONLY[*]} " == *" $stress "* ]]; then
      printf '%s\n' "$stress"
    fi
  done
}

main() {
  local jdk stress started=$SECONDS stresses
  parse_options "$@"
  require_programs
  mkdir -p "$WORK"
  lock 9 "$WORK/lock"
  run_step "$EXIT_MACHINE" "compile programs" compile_programs
  run_step "$EXIT_MACHINE" "fetch profilers" fetch_profilers
  rm -rf "$WORK/runs"
  say "random numbers from --seed $SEED"
  TURN=0 RUNS=0 FAILED=0
  for jdk in "${JDKS[@]}"; do
    mapfile -t stresses < <(stresses_of "$jdk")
    for stress in "${stresses[@]}"; do
      run_stress "$jdk" "$stress" $((MINUTES * 60 / ${#stresses[@]}))
    done
  done
  ((RUNS > 0)) || die "$EXIT_USAGE" "nothing to run: these programs need another JVM: ${ONLY[*]}"
  printf '%d runs, %d failed, %s\n' "$RUNS" "$FAILED" "$(elapsed_since "$started")"
  ((FAILED == 0)) || exit "$EXIT_FAILED"
}

main "$@"

#!/usr/bin/env bash
# Runs programs on traced JVMs that are hard on return barriers, for hours. See
# --help, and test/jvm/README.md.
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
readonly LOCKTRACE=${LOCKTRACE_BIN:-$ROOT/build/bin/locktrace}
readonly SOURCES=$ROOT/test/jvm/scenarios
readonly WORK=${LOCKTRACE_STRESS_DIR:-$ROOT/build/stress}
LOG_DIR=$WORK/logs

# In addition to those of lib/progress.sh.
readonly EXIT_FAILED=1

# A run that takes longer hangs.
readonly RUN_LIMIT_SECONDS=900

readonly STRESSES=(
  frames handles watched deoptimized collected overflows loops invalid-code stops popped
  churn redefined profiler dumps
)
# Needs a JVM with the Flight Recorder, which came with 8u262.
readonly RECORDER_STRESSES=(flight-recorder)
# Those that need a JVM with HotSpot's assertions: flags that make the rare common.
readonly ASSERTED_STRESSES=(
  deoptimize-a-lot walk-stack-a-lot zombie-a-lot safepoint-a-lot collect-a-lot
)
readonly COLLECTORS=(SerialGC ParallelGC ConcMarkSweepGC G1GC)
readonly MODES=("-Xbatch" "-Xint" "-XX:TieredStopAtLevel=1 -Xbatch" "-XX:-TieredCompilation -Xbatch")
readonly LITTLE_MEMORY="-Xmx32m -XX:MaxMetaspaceSize=12m -XX:ReservedCodeCacheSize=6m -XX:+UseCodeCacheFlushing"
readonly PROFILER_EVENTS=(
  "event=itimer" "event=itimer,cstack=no" "event=itimer,cstack=fp" "event=ctimer,cstack=vm" "event=ctimer,cstack=vmx"
  "event=ctimer,cstack=dwarf" "lock=1us,cstack=no" "event=cpu,lock=1us"
)

MINUTES=
JDKS=()
ONLY=()
SEED=${RANDOM}

usage() {
  cat <<END
Usage: scripts/stress-jvm.sh [OPTION]...

Runs programs of test/jvm/scenarios again and again on traced JVMs, which compare
each call chain with a walk of the whole stack: with each collector, and in turn with
each way to compile. Return barriers are on, but for one run in three. The programs check
themselves; besides, no JVM may crash or hang, and each trace must be whole.

  --minutes N     for each program and JDK, all collectors together (default: 4;
                  10 for churn and redefined)
  --jdk DIR       a traced JDK; may be given again (default: build/jdk and
                  build/jdk-fastdebug)
  --only NAME     one program; may be given again:
                  ${STRESSES[*]} ${RECORDER_STRESSES[*]}
                  and with HotSpot's assertions
                  ${ASSERTED_STRESSES[*]}
  --seed N        where random numbers begin (default: at random)
  --help          this text

Environment:
  LOCKTRACE_JDK_STOCK, LOCKTRACE_BIN
                  other programs than build/jdk-stock and build/bin/locktrace
  LOCKTRACE_STRESS_DIR
                  where runs that failed are kept (default: build/stress)

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
      JDKS+=("$(realpath --canonicalize-missing "$(value_of "$@")")")
      shift
      ;;
    --only)
      ONLY+=("$(value_of "$@")")
      [[ " ${STRESSES[*]} ${RECORDER_STRESSES[*]} ${ASSERTED_STRESSES[*]} " == *" $2 "* ]] || die "$EXIT_USAGE" "--only: no such program: $2 (see --help)"
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
  ((${#JDKS[@]} > 0)) || JDKS=("$ROOT/build/jdk" "$ROOT/build/jdk-fastdebug")
}

require_programs() {
  local jdk
  [[ -x $STOCK/bin/javac ]] || die "$EXIT_MACHINE" "no JDK at $STOCK: run 'make jdk-stock'"
  [[ -x $LOCKTRACE ]] || die "$EXIT_MACHINE" "no program $LOCKTRACE: run 'make tools'"
  for jdk in "${JDKS[@]}"; do
    [[ -x $jdk/bin/javac ]] || die "$EXIT_MACHINE" "no JDK at $jdk: run 'make jdk jdk-fastdebug'"
    "$jdk/bin/java" -XX:+UnlockDiagnosticVMOptions -XX:+LockContentionVerifyReturnBarriers -version 2>/dev/null ||
      die "$EXIT_MACHINE" "not a JDK with return barriers: $jdk"
  done
}

# choose STRESS TURN: sets FLAGS and PROGRAM to what the stress runs; which
# variant depends on the turn.
choose() {
  local stress=$1 turn=$2 seed=$((SEED + $2)) variant
  FLAGS=(-Xmx128m)
  PROGRAM=(CallPlans frames 1000 "$seed" alone)
  case $stress in
  frames) ;;
  handles) PROGRAM=(CallPlans handles 1000 "$seed" alone) ;;
  watched | deoptimized | collected) PROGRAM=(CallPlans frames 500 "$seed" "$stress") ;;
  overflows) PROGRAM=(Overflows 20) ;;
  loops) PROGRAM=(Loops 60) ;;
  invalid-code) PROGRAM=(Deoptimizations 60) ;;
  stops) PROGRAM=(Stops 200 "$seed") ;;
  popped)
    FLAGS+=("-agentpath:$WORK/programs/libscenarios.so" "-XX:CompileCommand=dontinline,scenarios.PoppedFrames::*")
    PROGRAM=(PoppedFrames 300)
    ;;
  churn | redefined)
    read -ra FLAGS <<<"$LITTLE_MEMORY"
    PROGRAM=(LoaderChurn 5000)
    if [[ $stress == redefined ]]; then
      FLAGS+=("-javaagent:$WORK/programs/agent.jar")
      PROGRAM=(LoaderChurn 2000)
    fi
    ;;
  profiler)
    variant=${PROFILER_EVENTS[turn / ${#PROFILERS[@]} % ${#PROFILER_EVENTS[@]}]}
    FLAGS+=("-agentpath:$(profiler_agent "$turn")=start,$variant,interval=200us,collapsed,file=profile.txt")
    ;;
  flight-recorder)
    FLAGS+=("-XX:StartFlightRecording=settings=profile,filename=recording.jfr,dumponexit=true")
    ;;
  dumps) PROGRAM=(CallPlans frames 4000 "$seed" alone) ;;
  deoptimize-a-lot) FLAGS+=(-XX:+DeoptimizeALot) ;;
  walk-stack-a-lot) FLAGS+=(-XX:+WalkStackALot) ;;
  zombie-a-lot) FLAGS+=(-XX:+ZombieALot) ;;
  safepoint-a-lot) FLAGS+=(-XX:+SafepointALot -XX:GuaranteedSafepointInterval=1) ;;
  collect-a-lot) FLAGS+=(-XX:+FullGCALot -XX:FullGCALotInterval=500 -XX:+VerifyBeforeGC) ;;
  esac
}

# run_stress JDK STRESS: as often as there is time, with each collector as long.
run_stress() {
  local jdk=$1 stress=$2 minutes=${MINUTES:-4} started=$SECONDS collector end runs=0 failed=0
  [[ -n $MINUTES || ! $stress =~ ^(churn|redefined)$ ]] || minutes=10
  for collector in "${COLLECTORS[@]}"; do
    end=$((SECONDS + minutes * 60 / ${#COLLECTORS[@]}))
    while :; do
      run_once "$jdk" "$stress" "$collector" "$TURN" || failed=$((failed + 1))
      runs=$((runs + 1))
      TURN=$((TURN + 1))
      ((SECONDS < end)) || break
    done
  done
  RUNS=$((RUNS + runs))
  FAILED=$((FAILED + failed))
  printf '%-16s %-18s %5d runs %5d failed  %s\n' "${jdk##*/}" "$stress" "$runs" "$failed" "$(elapsed_since "$started")"
}

# run_once JDK STRESS COLLECTOR TURN: false if anything was wrong; then the
# directory of the run stays.
run_once() {
  local jdk=$1 stress=$2 collector=$3 turn=$4 barriers=+ directory mode command fault status=0
  directory=$WORK/runs/${jdk##*/}-$stress-$collector-$turn
  read -ra mode <<<"${MODES[turn % ${#MODES[@]}]}"
  ((turn % 3 != 2)) || barriers=-
  choose "$stress" "$turn"
  rm -rf "$directory"
  mkdir -p "$directory"
  command=("$jdk/bin/java"
    -XX:+TraceLockContention -XX:LockContentionTraceFile=trace.lct
    -XX:+UnlockDiagnosticVMOptions "-XX:${barriers}LockContentionReturnBarriers" -XX:+LockContentionVerifyReturnBarriers
    "-XX:+Use$collector" "${mode[@]}"
    -XX:+WhiteBoxAPI "-Xbootclasspath/a:$WORK/programs/boot"
    -XX:CompileCommand=quiet -XX:PerMethodRecompilationCutoff=1000000 -XX:-OmitStackTraceInFastThrow
    -Dsun.reflect.inflationThreshold=2147483647 "-Dscenarios.natives=$WORK/programs/libscenarios.so"
    "${FLAGS[@]}" -cp "$WORK/programs/classes" "scenarios.${PROGRAM[0]}" "${PROGRAM[@]:1}")
  printf '%q ' "${command[@]}" >"$directory/command"
  (
    cd "$directory"
    unset JAVA_TOOL_OPTIONS
    # Lets a JVM that hangs print its threads.
    exec timeout --signal=QUIT --kill-after=20 "$RUN_LIMIT_SECONDS" "${command[@]}"
  ) >"$directory/stdout" 2>"$directory/stderr" </dev/null &
  local pid=$!
  if [[ $stress == dumps ]]; then
    dump_repeatedly "$jdk" "$pid" "$directory"
  fi
  wait "$pid" || status=$?
  fault=$(fault_of "$directory" "$status" "$barriers")
  if [[ -z $fault ]]; then
    rm -rf "$directory"
    return 0
  fi
  say "FAILED  $stress on ${jdk##*/} with $collector ${mode[*]}: $fault, see $directory"
  return 1
}

# dump_repeatedly JDK PID DIRECTORY: looks at the stacks and the heap from
# outside until the process, which runs below PID, is gone.
dump_repeatedly() {
  local jdk=$1 pid=$2 java
  # A JVM that has not come far yet is ended by the signal that jstack sends.
  sleep 2
  while kill -0 "$pid" 2>/dev/null; do
    java=$(pgrep --parent "$pid" || true)
    if [[ -n $java ]]; then
      # Fails if the process has just ended.
      timeout 60 "$jdk/bin/jstack" -l "$java" || true
      timeout 60 "$jdk/bin/jmap" -histo:live "$java" || true
    fi
    sleep 0.2
  done >"$3/dumps" 2>&1
}

# fault_of DIRECTORY STATUS BARRIERS: prints what was wrong with a run, if anything was.
fault_of() {
  local directory=$1 status=$2 barriers=$3 stat=$1/stat.json logs=("$1"/hs_err*)
  local lacks='"(lost_[a-z]+|missing_[a-z]+|malformed_[a-z]+|[a-z]+_not_described|unbalanced_[a-z]+|retired_references|chain_set_resets)": [1-9]'
  if ((${#logs[@]} > 0)); then
    printf 'the JVM crashed'
  elif ((status == 124 || status == 137)); then
    printf 'it ran for more than %d seconds' "$RUN_LIMIT_SECONDS"
  elif ((status != 0)); then
    printf 'exit code %d' "$status"
  elif ! "$LOCKTRACE" stat --format json "$directory/trace.lct" >"$stat" 2>"$stat.err"; then
    printf 'the trace is not whole'
  elif ! grep -q '"complete": true' "$stat"; then
    printf 'the trace is not complete'
  elif grep -qE "$lacks" "$stat"; then
    printf 'the trace lacks something: %s' "$(grep -oE "$lacks" "$stat" | head -n 1)"
  elif [[ $barriers == + ]] && ! grep -qE '"frames_saved": [1-9]' "$stat"; then
    printf 'no return barrier was of use'
  fi
}

# stresses_of JDK: prints the names of those to run on a JDK.
stresses_of() {
  local stresses=("${STRESSES[@]}") stress
  if "$1/bin/java" -XX:+FlightRecorder -version >/dev/null 2>&1; then
    stresses+=("${RECORDER_STRESSES[@]}")
  fi
  if "$1/bin/java" -XX:+DeoptimizeALot -version >/dev/null 2>&1; then
    stresses+=("${ASSERTED_STRESSES[@]}")
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
      run_stress "$jdk" "$stress"
    done
  done
  ((RUNS > 0)) || die "$EXIT_USAGE" "nothing to run: these programs need another JVM: ${ONLY[*]}"
  printf '%d runs, %d failed, %s\n' "$RUNS" "$FAILED" "$(elapsed_since "$started")"
  ((FAILED == 0)) || exit "$EXIT_FAILED"
}

main "$@"

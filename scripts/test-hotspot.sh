#!/usr/bin/env bash
# Runs OpenJDK's own regression tests on the stock JDK and on the traced one, and
# compares. See --help, and test/hotspot/README.md.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
CACHE=$(realpath --canonicalize-missing "${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}")
readonly CACHE

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/options.sh
. "$ROOT/scripts/lib/options.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"
# shellcheck source=lib/debian-package.sh
. "$ROOT/scripts/lib/debian-package.sh"
# shellcheck source=lib/source.sh
. "$ROOT/scripts/lib/source.sh"

readonly TRACED=${LOCKTRACE_JDK:-$ROOT/build/jdk}
readonly STOCK=${LOCKTRACE_JDK_STOCK:-$ROOT/build/jdk-stock}
readonly LOCKTRACE=${LOCKTRACE_BIN:-$ROOT/build/bin/locktrace}
readonly LIST=$ROOT/test/hotspot/tests.list
readonly WORK=$ROOT/build/test-hotspot
readonly TRACES=$WORK/traces
readonly TRACING="-XX:+TraceLockContention -XX:LockContentionTraceFile=$TRACES/%p-%t.lct"
LOG_DIR=$ROOT/build/logs/test-hotspot

# In addition to those of lib/progress.sh.
readonly EXIT_DIFFERENT=1

# The harness, and what some tests of the class library are written for. The
# distribution's harness looks for JUnit under another name than the package has.
readonly TEST_PACKAGES=(jtreg6 libtestng7-java junit4)
readonly JUNIT=/usr/share/java/junit4.jar
readonly SUITES=(hotspot jdk)

SOURCE=
JOBS=$(nproc)
TIMEOUT_FACTOR=4
TESTS=()

usage() {
  cat <<END
Usage: scripts/test-hotspot.sh [OPTION]... [TEST]...

Runs OpenJDK's own regression tests with jtreg, on the stock JDK and then on the
traced JDK with -XX:+TraceLockContention, and compares the results. What passes
on the first and not on the second is run once more.

  TEST                   a test or folder of the source, for example
                         jdk/test/java/util/concurrent; without any, those of
                         test/hotspot/tests.list

  --source DIR|TARBALL   the forest that the JDKs were built from, as given to
                         scripts/build-openjdk.sh
  --jobs N               tests at once (default: the processors, $(nproc))
  --timeout-factor N     how many times longer than its author thought a test
                         may take (default: $TIMEOUT_FACTOR)
  --help                 this text

Environment:
  LOCKTRACE_JDK, LOCKTRACE_JDK_STOCK, LOCKTRACE_BIN
                         other programs than those in build/
  LOCKTRACE_CACHE        as for scripts/build-openjdk.sh

Exit codes:
  0  all that passes on the stock JDK passes traced, and no trace has a fault
  1  not so                       3  the machine lacks a package or tool
  2  wrong usage                  4  the source is not to be had
END
}

parse_options() {
  while (($# > 0)); do
    case $1 in
    --source)
      SOURCE=$(value_of "$@")
      SOURCE=$(realpath --canonicalize-existing --quiet "$SOURCE") ||
        die "$EXIT_USAGE" "--source: no such file or folder: $2"
      shift
      ;;
    --jobs)
      JOBS=$(number_of "$@")
      shift
      ;;
    --timeout-factor)
      TIMEOUT_FACTOR=$(number_of "$@")
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    -*) die "$EXIT_USAGE" "unknown option: $1 (see --help)" ;;
    *) TESTS+=("${1%/}") ;;
    esac
    shift
  done
}

require_programs() {
  local jdk
  for jdk in "$STOCK" "$TRACED"; do
    [[ -x $jdk/bin/javac ]] || die "$EXIT_MACHINE" "no JDK at $jdk: run 'make jdk jdk-stock'"
  done
  "$TRACED/bin/java" -XX:+TraceLockContention -XX:LockContentionTraceFile=/dev/null -version 2>/dev/null ||
    die "$EXIT_MACHINE" "not a JDK that traces lock contention: $TRACED"
  [[ -x $LOCKTRACE ]] || die "$EXIT_MACHINE" "no program $LOCKTRACE: run 'make tools'"
}

# choose_tests: those of the list, unless some were given.
choose_tests() {
  local test
  if ((${#TESTS[@]} == 0)); then
    mapfile -t TESTS < <(sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "$LIST")
  fi
  for test in "${TESTS[@]}"; do
    [[ -e $FOREST/$test ]] || die "$EXIT_USAGE" "no such test in $FOREST: $test"
  done
}

# run_tests NAME JDK VM_OPTIONS TEST...: leaves a line "test result" for each in
# WORK/NAME.results, sorted.
run_tests() {
  local name=$1
  run_step "$EXIT_MACHINE" "tests $name" run_jtreg "$@"
  sed -En 's/^(Passed|FAILED|Error): (.*)$/\1 \2/p' "$LOG_DIR/tests-$name.log" | name_as_in_forest |
    LC_ALL=C sort >"$WORK/$name.results"
}

run_jtreg() {
  local name=$1 jdk=$2 options status=0 suite
  IFS=' ' read -ra options <<<"$3"
  options=("${options[@]/#/-vmoption:}")
  shift 3
  for suite in "${SUITES[@]}"; do
    options+=("-exclude:$FOREST/$suite/test/ProblemList.txt")
  done
  rm -rf "${WORK:?}/$name"
  env --unset=DISPLAY --unset=JAVA_TOOL_OPTIONS JTREG_JAVA="$STOCK/bin/java" \
    jtreg -J-Djunit.jar="$JUNIT" -agentvm -automatic -ignore:quiet -retain:none -verbose:summary \
    -concurrency:"$JOBS" -timeoutFactor:"$TIMEOUT_FACTOR" \
    -dir:"$FOREST" -jdk:"$jdk" -workDir:"$WORK/$name" -reportDir:"$WORK/$name/report" \
    "${options[@]}" "$@" || status=$?
  # 2: some tests failed. 3: some could not be run. Both are results.
  ((status == 0 || status == 2 || status == 3))
}

# jtreg names tests within their suite.
name_as_in_forest() {
  local result test suite
  while read -r result test; do
    for suite in "${SUITES[@]}"; do
      if [[ -e $FOREST/$suite/test/${test%#*} ]]; then
        printf '%s %s\n' "$suite/test/$test" "$result"
      fi
    done
  done
}

# compare_results: runs again what only passed on the stock JDK, and prints a
# table; sets WORSE to the tests that then failed once more.
compare_results() {
  local failed="FAILED|Error|none" once passed_again
  once=$(tests_with Passed "$failed")
  : >"$WORK/again.results"
  if [[ -n $once ]]; then
    # shellcheck disable=SC2086
    run_tests again "$TRACED" "$TRACING" $once
  fi
  passed_again=$(sed -n 's/ Passed$//p' "$WORK/again.results")
  WORSE=$(LC_ALL=C comm -23 <(lines "$once") <(lines "$passed_again"))

  say
  print_count "passed on both JDKs" "$(tests_with Passed Passed | wc -l)"
  print_tests "failed on both JDKs" "$(tests_with "$failed" "$failed")"
  print_tests "failed on the stock JDK only" "$(tests_with "$failed" Passed)"
  print_tests "failed traced, passed traced when run again" "$passed_again"
  print_tests "failed traced twice, passed on the stock JDK" "$WORSE"
}

# tests_with STOCK TRACED: those whose results match these regular expressions;
# "none" is the result of a test that did not run.
tests_with() {
  LC_ALL=C join -a 1 -a 2 -e none -o 0,1.2,2.2 "$WORK/stock.results" "$WORK/traced.results" |
    awk -v stock="^($1)$" -v traced="^($2)$" '$2 ~ stock && $3 ~ traced { print $1 }'
}

# check_traces: prints what the JVMs wrote; sets FAULTY to the traces that lack
# something although their JVM ended as it should.
check_traces() {
  local trace kinds=$WORK/traces.kinds
  find "$TRACES" -name '*.lct' | while read -r trace; do
    describe_trace "$trace"
  done >"$kinds"
  [[ -s $kinds ]] || die "$EXIT_DIFFERENT" "no JVM wrote a trace"
  FAULTY=$(sed -n 's/^faulty [0-9]* //p' "$kinds")
  print_count "traces are whole" "$(grep -c '^whole ' "$kinds")"
  print_count "traces have no end: the JVM was killed, or crashed on purpose" "$(grep -c '^open ' "$kinds")"
  print_tests "traces are faulty" "$FAULTY"
  print_count "waits are in the traces" "$(awk '{ sum += $2 } END { print sum }' "$kinds")"
}

# describe_trace TRACE: prints "whole", "open" or "faulty", the number of waits,
# and the name.
describe_trace() {
  local stat=$WORK/stat.json kind=faulty
  local lacks='"(lost_[a-z]+|missing_[a-z]+|malformed_[a-z]+|[a-z]+_not_described|unbalanced_[a-z]+)": [1-9]'
  "$LOCKTRACE" stat --format json "$1" >"$stat" 2>/dev/null || true
  if [[ ! -s $1 ]] || grep -q '"the end is missing' "$stat"; then
    kind=open
  elif grep -q '"complete": true' "$stat" && ! grep -qE "$lacks" "$stat"; then
    kind=whole
  fi
  awk -F'[:, ]+' -v kind="$kind" -v trace="$1" '
    $2 == "\"type\"" { type = $3 }
    $2 == "\"events\"" && type == "\"ContendedEntered\"" { waits = $3; type = "" }
    END { print kind, waits + 0, trace }' "$stat"
}

print_tests() {
  print_count "$1" "$(lines "$2" | wc -l)"
  lines "$2" | sed 's/^/         /'
}

print_count() {
  printf '%6d  %s\n' "$2" "$1"
}

lines() {
  [[ -z $1 ]] || printf '%s\n' "$1"
}

main() {
  parse_options "$@"
  require_programs
  require_packages "${TEST_PACKAGES[@]}"
  mkdir -p "$CACHE"
  lock 9 "$CACHE/lock"
  prepare_forest
  choose_tests

  mkdir -p "$WORK"
  lock 9 "$WORK/lock"
  rm -rf "$TRACES"
  mkdir -p "$TRACES"
  run_tests stock "$STOCK" "" "${TESTS[@]}"
  run_tests traced "$TRACED" "$TRACING" "${TESTS[@]}"
  compare_results
  check_traces
  if [[ -n $WORSE || -n $FAULTY ]]; then
    die "$EXIT_DIFFERENT" "tracing makes a difference; the tests' output is below $WORK"
  fi
  rm -rf "$TRACES"
}

main "$@"

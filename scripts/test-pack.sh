#!/usr/bin/env bash
# Unpacks the archive of bench/pack in a bare root without network, measures there, and checks that each part is in
# the results. Needs root.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
# shellcheck disable=SC2034 # for run_step
readonly LOG_DIR=$ROOT/build/logs/test-pack
readonly PARTS=(overhead holds stress hooks analysis agent)

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"
# shellcheck source=lib/options.sh
. "$ROOT/scripts/lib/options.sh"

ARCHIVE=$ROOT/build/locktrace-pack.tar.xz
MINUTES=4

usage() {
  cat <<END
Usage: scripts/test-pack.sh [OPTION]...

Unpacks the archive of bench/pack in a root that has nothing but a shell, /proc and some devices, without
network. Runs it there, once with all parts and once on one processor, and checks the results.

Options:
  --archive FILE  the archive [default: build/locktrace-pack.tar.xz]
  --minutes N     the time to measure [default: $MINUTES]
  -h, --help      this text

Exit codes: 0 all is there, 1 something is missing or was wrong, 2 wrong usage, 3 the machine lacks something
END
}

while (($# > 0)); do
  case $1 in
    --archive)
      ARCHIVE=$(realpath --canonicalize-missing "$(value_of "$@")")
      shift
      ;;
    --minutes)
      MINUTES=$(number_of "$@")
      shift
      ;;
    -h | --help) usage; exit ;;
    *) die "$EXIT_USAGE" "unknown option: $1 (see --help)" ;;
  esac
  shift
done
[[ -e $ARCHIVE ]] || die "$EXIT_MACHINE" "$ARCHIVE is missing; run: make pack"
((EUID == 0)) || die "$EXIT_MACHINE" "only root can change into a bare root"
require_packages iproute2 jq xz-utils

WORK=$(mktemp -d)
trap 'umount "$SYSTEM/proc" 2>/dev/null || true; rm -rf --one-file-system "$WORK"' EXIT
readonly WORK SYSTEM=$WORK/root
readonly RESULTS=$SYSTEM/results/results.json

# A shell and its libraries; the archive brings the rest.
make_root() {
  local library device
  mkdir -p "$SYSTEM"/{bin,dev,proc,tmp}
  chmod 1777 "$SYSTEM/tmp"
  cp --dereference /bin/sh "$SYSTEM/bin/"
  while read -r library; do
    cp --dereference --parents "$library" "$SYSTEM"
  done < <(ldd /bin/sh | grep --only-matching '/[^ ]*')
  for device in null zero random urandom; do
    cp --archive "/dev/$device" "$SYSTEM/dev/"
  done
  mount -t proc proc "$SYSTEM/proc"
  tar --extract --file "$ARCHIVE" --directory "$SYSTEM"
}

# run_there OPTION...: `run` of the archive, where nothing but the loopback device can be reached.
run_there() {
  unshare --net sh -c 'ip link set lo up && exec chroot "$@"' sh \
    "$SYSTEM" /locktrace-pack/run --output /results "$@" </dev/null
}

# All parts are there, each with figures, and nothing was wrong.
check_results() {
  local part
  for part in "${PARTS[@]}"; do
    jq --exit-status --arg part "$part" '.[$part] | .failures == [] and (.figures | length > 0)' "$RESULTS" ||
      { echo "error: $RESULTS: expected figures and no failures of $part"; return 1; }
  done
  [[ $(grep --count '^## ' "$SYSTEM/results/results.md") == "${#PARTS[@]}" ]] ||
    { echo "error: expected a section for each of ${PARTS[*]} in results.md"; return 1; }
}

# Java starts without the rest of the JDK, in both versions.
start_java() {
  local jdk
  for jdk in jdk jdk-stock; do
    chroot "$SYSTEM" "/locktrace-pack/build/$jdk/bin/java" -version
  done
}

# A single processor, one part, and what was left out is said.
check_one_processor() {
  run_there --minutes 1 --only holds --processors 1
  jq --exit-status '(.processors | length == 1) and .overhead == null' "$RESULTS"
  grep --quiet 'not run.*left out by --only' "$SYSTEM/results/results.md"
}

run_step "$EXIT_MACHINE" "make a bare root" make_root
run_step "$EXIT_BUILD" "start Java" start_java
run_step "$EXIT_BUILD" "measure" run_there --minutes "$MINUTES"
run_step "$EXIT_BUILD" "check the results" check_results
cat "$SYSTEM/results/results.md"
run_step "$EXIT_BUILD" "measure on one processor" check_one_processor
say "the archive measures in a bare root"

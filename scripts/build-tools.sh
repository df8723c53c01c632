#!/usr/bin/env bash
# Builds the command line, as people get it, to build/bin/locktrace.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
# shellcheck disable=SC2034 # for run_step
readonly LOG_DIR=$ROOT/build/logs/tools

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

require_cargo
# Some crates have C in them.
command -v cc >/dev/null || require_packages build-essential
run_step "$EXIT_BUILD" "build locktrace" \
  cargo install --profile tools --locked --no-track --force --path "$ROOT/crates/locktrace" --root "$ROOT/build"

#!/usr/bin/env bash
# Installs what the tests need beside what the build needs: Maven for the Java
# programs that have dependencies, Prometheus' parsers for `locktrace metrics`,
# tmux as the terminal of `locktrace top`, Go's pprof for `locktrace export`, shellcheck for the
# scripts.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
LOG_DIR=$ROOT/build/logs/test-packages

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

require_packages maven python3-prometheus-client shellcheck tmux
# Any version has the tool, so one that is there already will do.
command -v go > /dev/null || require_packages golang-go

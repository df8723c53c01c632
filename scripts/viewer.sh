#!/usr/bin/env bash
# The viewer's page, whose sources are in viewer/:
#   scripts/viewer.sh build         builds it into crates/locktrace/assets
#   scripts/viewer.sh check         types, style, and that what is committed is what the sources make
#   scripts/viewer.sh test [NAME]   tests it in a browser; NAME is a regular expression
#   scripts/viewer.sh screenshots   takes the pictures of the docs
# LOCKTRACE chooses another program than build/bin/locktrace.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
# shellcheck disable=SC2034 # for run_step
LOG_DIR=$ROOT/build/logs/viewer
readonly ASSETS=$ROOT/crates/locktrace/assets

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

# Installs node and npm from the distribution unless they are already installed in some other way.
require_node() {
  local packages=()
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
  if ((${#packages[@]} > 0)); then
    require_packages "${packages[@]}"
  fi
}

# The packages of package-lock.json, unless they are there. None of them runs a script
# of its own.
install_modules() {
  local wanted installed=viewer/node_modules/.installed
  wanted=$(sha256sum "$ROOT/viewer/package-lock.json")
  if [[ ! -e $ROOT/$installed || $(<"$ROOT/$installed") != "$wanted" ]]; then
    run_step "$EXIT_BUILD" "install the packages of the viewer" \
      npm --prefix "$ROOT/viewer" ci --ignore-scripts --no-audit --no-fund
    printf '%s\n' "$wanted" >"$ROOT/$installed"
  fi
}

check() {
  local made file
  (cd "$ROOT/viewer" && node_modules/.bin/tsc --project . && node_modules/.bin/eslint .)
  if grep -q '"resolved"' "$ROOT/viewer/package-lock.json"; then
    die "$EXIT_BUILD" "viewer/package-lock.json names the registry that made it; npm ci must find its own"
  fi
  made=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$made'" EXIT
  node "$ROOT/viewer/build.js" "$made"
  for file in viewer.html viewer.css viewer.js; do
    cmp "$made/$file" "$ASSETS/$file" ||
      die "$EXIT_BUILD" "crates/locktrace/assets/$file is not what viewer/src makes; run: make viewer"
  done
  say "the viewer's page: types, style and bundle are fine"
}

[[ ${1-} =~ ^(build|check|test|screenshots)$ ]] ||
  die "$EXIT_USAGE" "usage: scripts/viewer.sh build | check | test [NAME] | screenshots"
require_node
install_modules
export LOCKTRACE=${LOCKTRACE:-$ROOT/build/bin/locktrace}
case $1 in
  build) node "$ROOT/viewer/build.js" ;;
  check) check ;;
  test)
    require_browser
    cd "$ROOT/viewer"
    node --test --test-concurrency="$(nproc)" ${2:+--test-name-pattern="$2"} test/*.test.js
    ;;
  screenshots)
    require_browser
    node "$ROOT/viewer/test/screenshots.js" "$ROOT/docs/viewer"
    ;;
esac

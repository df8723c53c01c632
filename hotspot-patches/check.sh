#!/usr/bin/env bash
# Checks the hooks: each stands in the series and has its header, and together
# they stay small. Prints the upstream lines that each adds and removes.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"

# Lines that all hooks together may add to upstream's files. What does not fit
# belongs into the overlay.
readonly BUDGET=120
readonly FIELDS=(Description Forwarded Removal)

problems=0

problem() {
  printf 'error: %s\n' "$*" >&2
  problems=$((problems + 1))
}

in_series() {
  sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' series | LC_ALL=C sort
}

in_folder() {
  find hooks -type f -printf '%P\n' | LC_ALL=C sort
}

for hook in $(LC_ALL=C comm -13 <(in_series) <(in_folder)); do
  problem "hooks/$hook is not in the series"
done
for hook in $(LC_ALL=C comm -23 <(in_series) <(in_folder)); do
  problem "the series names $hook, which is not in hooks/"
done
for hook in $(in_series | uniq --repeated); do
  problem "the series names $hook twice"
done

# What stands behind a hook decides whether it is applied, so a slip must not pass
# for a comment.
while read -r hook note; do
  [[ -z $note || $note =~ ^'# needs: '[^[:space:]] ]] || problem "the series says of $hook what nobody reads: $note"
done < <(grep '^[^#]' series)

printf '%5s %7s  %s\n' added removed hook
total_added=0 total_removed=0
for hook in $(in_folder); do
  for field in "${FIELDS[@]}"; do
    sed '/^--- /q' "hooks/$hook" | grep -q "^$field: ." ||
      problem "hooks/$hook: its header has no field $field"
  done
  # The lines of the hunks only: file names start with "+++" and "---".
  added=$(grep -c '^+\([^+]\|+[^+]\|$\)' "hooks/$hook" || true)
  removed=$(grep -c '^-\([^-]\|-[^-]\|$\)' "hooks/$hook" || true)
  ((added + removed > 0)) || problem "hooks/$hook changes nothing"
  printf '%5d %7d  %s\n' "$added" "$removed" "$hook"
  total_added=$((total_added + added)) total_removed=$((total_removed + removed))
done
printf '%5d %7d  of all hooks; at most %d may be added\n' "$total_added" "$total_removed" "$BUDGET"

((total_added <= BUDGET)) || problem "the hooks add $total_added lines, $((total_added - BUDGET)) too many"
((problems == 0))

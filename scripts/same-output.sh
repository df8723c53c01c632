#!/usr/bin/env bash
# Compares what every command prints and writes for the traces of the tests with kept hashes, so that
# a change of the code's structure is seen to change nothing else.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT

LOCKTRACE=${LOCKTRACE_BIN:-$ROOT/build/bin/locktrace}
KEPT=$ROOT/test/same-output.txt
UPDATE=false
SHOW=

usage() {
  cat <<USAGE
Usage: scripts/same-output.sh [OPTIONS]

Runs every command that analyzes traces, in each of its formats and with 1, 2 and 8 threads, and
every export, on the traces of the tests, on one that is cut off and one that is damaged. Compares
hashes of standard output, standard error, exit code and files with those kept. Takes a minute.

Options:
  --locktrace FILE  the command line [default: build/bin/locktrace, or LOCKTRACE_BIN]
  --kept FILE       the hashes [default: test/same-output.txt]
  --update          keep the hashes of this run
  --show CASE       print what the case with this name says, in place of all that
  -h, --help        this text

Exit codes: 0 all as it was, 1 something differs, 2 wrong usage
USAGE
}

die() {
  printf 'same-output: %s\n' "$*" >&2
  exit 2
}

while (($# > 0)); do
  case $1 in
    --locktrace) LOCKTRACE=${2:?--locktrace needs a file}; shift ;;
    --kept) KEPT=${2:?--kept needs a file}; shift ;;
    --update) UPDATE=true ;;
    --show) SHOW=${2:?--show needs the name of a case}; shift ;;
    -h | --help) usage; exit ;;
    *) usage >&2; die "unknown option $1" ;;
  esac
  shift
done
[[ -x $LOCKTRACE ]] || die "no program $LOCKTRACE: run \`make tools\`"
LOCKTRACE=$(realpath "$LOCKTRACE")
KEPT=$(realpath --canonicalize-missing "$KEPT")
$UPDATE || [[ -n $SHOW || -r $KEPT ]] || die "no file $KEPT: run with --update on what is to stay"

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

# The aspects that the command line lists.
read -ra ASPECTS < <({ "$LOCKTRACE" report --by '?' - 2>&1 || true; } | sed --quiet 's/.*\[possible values: \(.*\)\]/\1/p' | tr --delete ,)
((${#ASPECTS[@]} > 0)) || die "$LOCKTRACE names no aspects"

# The names of traces are in what is printed, so they are relative.
for trace in "$ROOT"/crates/trace-format/tests/golden/*.lct "$ROOT"/crates/trace-model/tests/traces/*.lct \
    "$ROOT"/viewer/test/fixtures/*.lct; do
  name=$(basename "$trace")
  [[ ! -e $name ]] || name=viewer-$name
  cp "$trace" "$name"
done
# The clock of the machine that wrote it is in a trace, and nothing of this machine is to be.
export TZ=UTC LC_ALL=C COLUMNS=100 NO_COLOR=1
head -c 100000 h2.lct > cut-off.lct
{ head -c 60000 tomcat.lct; head -c 5000 /dev/zero; tail -c +65001 tomcat.lct; } > damaged.lct
traces=(*.lct)

# Adds a case: its name, and what is run in the folder of the traces.
declare -A COMMANDS=()
NAMES=()
add() {
  local name=$1
  shift
  NAMES+=("$name")
  COMMANDS[$name]=$(printf '%q ' "$@")
}

analyses() {
  local trace=$1 threads format aspect
  for threads in 1 2 8; do
    for format in table json csv; do
      add "$trace report $format $threads" report --format "$format" --threads "$threads" --all --kind all "$trace"
      add "$trace locks $format $threads" locks --format "$format" --threads "$threads" --kind all --top 0 "$trace"
      add "$trace threads $format $threads" threads --format "$format" --threads "$threads" --kind all --top 0 "$trace"
      add "$trace activity $format $threads" report --activity --by owner-activity,root-owner-method,owner-method \
        --format "$format" --threads "$threads" --all "$trace"
    done
    for format in table json; do
      add "$trace lock-order $format $threads" lock-order --format "$format" --threads "$threads" --kind all "$trace"
      add "$trace convoys $format $threads" convoys --format "$format" --threads "$threads" --min-waits 2 "$trace"
      add "$trace what-if $format $threads" what-if --change removed --lock-class '*' --format "$format" \
        --threads "$threads" --processors 4 "$trace"
      add "$trace stat $format $threads" stat --format "$format" --threads "$threads" "$trace"
    done
    for format in text markdown json; do
      add "$trace diff $format $threads" diff --format "$format" --threads "$threads" --kind all "$trace" h2.lct
    done
  done
  for aspect in "${ASPECTS[@]}"; do
    add "$trace by $aspect" report --by "$aspect" --format json --kind all --threads 2 "$trace"
  done
  add "$trace filtered" report --from 1ms --to -1ms --thread '*' --exclude thread=main --format json "$trace"
  add "$trace window" report --from 20ms --to 200ms --format json --full-chains --by root-owner-method,chain "$trace"
  for format in table jsonl csv; do add "$trace contentions $format" contentions --format "$format" --kind all "$trace"; done
  for format in text jsonl; do add "$trace dump $format" dump --format "$format" "$trace"; done
  for format in text json; do add "$trace summary $format" summary --format "$format" "$trace"; done
  for change in split=4 holds=0.5 fair unfair; do
    add "$trace what-if $change" what-if --change "$change" --lock-class '*' --format json --processors 4 "$trace"
  done
  add "$trace what-if read-write" what-if --change read-write --readers '*' --lock-class '*' --format json \
    --processors 4 "$trace"
}

questions() {
  local trace=$1 topic
  for topic in query model histogram waits embedded; do
    add "$trace ask $topic" query --no-index --ask "$topic" "$trace"
  done
  add "$trace ask lanes" query --no-index --ask lanes --json '{"by":"thread","px":100}' "$trace"
  add "$trace ask wait" query --no-index --ask wait --json '{"id":0}' "$trace"
  add "$trace ask folded" query --no-index --ask embedded --fold-to 50 "$trace"
}

exports() {
  local trace=$1 format stacks
  for format in perfetto firefox jfr openmetrics prometheus; do
    add "$trace to $format" export --to "$format" --output out "$trace"
  done
  for stacks in owners waiters chain-graph; do
    for format in collapsed pprof otlp; do
      add "$trace to $format $stacks" export --to "$format" --stacks "$stacks" --output out "$trace"
    done
  done
  add "$trace to parquet" export --to parquet --host host --release 1 --nestings --output out "$trace"
  for format in openmetrics prometheus; do
    add "$trace metrics $format" metrics --format "$format" "$trace"
  done
}

for trace in "${traces[@]}"; do
  analyses "$trace"
  questions "$trace"
  exports "$trace"
done
add "two traces" report --format json --by lock,owner-method h2.lct tomcat.lct
add "two summaries" summary --format json h2.lct tomcat.lct

# Runs a case in a folder of its own, and prints all that it leaves.
run_case() {
  local folder=$1 name=$2 code=0
  rm -rf "$folder"
  mkdir "$folder"
  ln -s "$WORK"/*.lct "$folder"
  (
    cd "$folder"
    eval "\"$LOCKTRACE\" ${COMMANDS[$name]}" > "$folder.stdout" 2> "$folder.stderr"
  ) || code=$?
  if grep --quiet --regexp='try .--help' --regexp='not a question' "$folder.stderr"; then
    printf 'same-output: %s: wrong usage\n' "$name" >&2
  fi
  printf 'exit code %s\n' "$code"
  cat "$folder.stdout" "$folder.stderr"
  find "$folder" -type f -printf '%P\n' | sort | while read -r file; do
    printf '%s\n' "$file"
    cat "$folder/$file"
  done
}

if [[ -n $SHOW ]]; then
  [[ -n ${COMMANDS[$SHOW]:-} ]] || die "no case '$SHOW'; their names are in $KEPT"
  run_case "$WORK/shown" "$SHOW"
  exit
fi

# Two workers or more, which share the cases.
workers=$(nproc)
for ((worker = 0; worker < workers; worker++)); do
  for ((i = worker; i < ${#NAMES[@]}; i += workers)); do
    hash=$(run_case "$WORK/case-$worker" "${NAMES[i]}" | sha256sum)
    printf '%.16s  %s\n' "$hash" "${NAMES[i]}"
    ((worker > 0 || i % 200 >= workers)) || printf 'same-output: %d of %d\n' "$i" "${#NAMES[@]}" >&2
  done > "hashes-$worker" &
done
wait
sort --key=2 hashes-* > hashes

if $UPDATE; then
  cp hashes "$KEPT"
  printf 'same-output: %d cases kept in %s\n' "${#NAMES[@]}" "$KEPT" >&2
elif ! diff "$KEPT" hashes > differences; then
  grep '^[<>]' differences | cut --delimiter=' ' --fields=4- | sort --unique | sed 's/^/differs: /'
  printf 'same-output: %d of %d cases differ; --show CASE prints one\n' \
    "$(grep -c '^>' differences)" "${#NAMES[@]}" >&2
  exit 1
else
  printf 'same-output: all %d cases as they were\n' "${#NAMES[@]}" >&2
fi

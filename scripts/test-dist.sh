#!/usr/bin/env bash
# Installs the Debian packages of build/dist in a bare system, traces a program there, reads the
# trace, and removes them again: nothing may stay. Then the same with the tarballs, and with the images that
# packaging/Dockerfile describes. Needs root.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
readonly DIST=$ROOT/build/dist
# shellcheck disable=SC2034 # for run_step
LOG_DIR=$ROOT/build/logs/test-dist

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"
# shellcheck source=lib/debian-package.sh
. "$ROOT/scripts/lib/debian-package.sh"
# shellcheck source=lib/bare-system.sh
. "$ROOT/scripts/lib/bare-system.sh"

[[ -e $DIST/SHA256SUMS ]] || die "$EXIT_MACHINE" "$DIST has no packages; run: make dist"
((EUID == 0)) || die "$EXIT_MACHINE" "only root can change into a bare system"
require_packages debootstrap lintian buildah
(cd "$DIST" && sha256sum --quiet --check SHA256SUMS)

make_system() {
  make_bare_system
  tar --directory "$SYSTEM" --one-file-system --create --file "$WORK/base.tar" .
  cp "$DIST"/*.deb "$DIST"/*-linux-x64.tar.xz "$SYSTEM/srv"
  in_system apt-get install --no-install-recommends -y xz-utils
}

# All files of the system, but for what every installation writes.
files() {
  in_system find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path /var/cache \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log -o -path /srv \) -prune -o -print | sort
}

# The packages of the distribution that ours need stay, so that only ours make a difference.
install_needs() {
  local needs
  needs=$(dpkg-deb --field "$DIST"/locktrace-8-jdk_*.deb Depends && dpkg-deb --field "$DIST"/locktrace_*.deb Depends)
  # shellcheck disable=SC2046 # one word for each package
  in_system apt-get install --no-install-recommends -y \
    $(tr ',' '\n' <<<"$needs" | sed 's/(.*//; s/|.*//' | sort -u)
}

install_packages_of_ours() {
  in_system sh -c 'apt-get install --no-install-recommends -y /srv/*.deb'
}

# trace_with JAVAC JAVA LOCKTRACE: what a user would do.
trace_with() {
  mkdir -p "$SYSTEM/tmp/demo"
  cp "$ROOT"/test/jvm/demo/*.java "$SYSTEM/tmp/demo"
  in_system sh -ec "cd /tmp/demo
    $1 -d . *.java
    $2 -XX:+TraceLockContention -XX:LockContentionTraceFile=demo.lct -cp . demo.Demo
    $3 report demo.lct
    $3 summary demo.lct" >"$SYSTEM/tmp/report"
  grep -q 'held by demo.AuditLog.append' "$SYSTEM/tmp/report" ||
    die "$EXIT_BUILD" "the report does not name demo.AuditLog.append"
}

# The library beside the program is found; a JVM that traces itself will do.
attach() {
  in_system sh -ec "cd /tmp/demo
    java -cp . demo.Demo >/dev/null & jvm=\$!
    sleep 1
    $1 attach \$jvm -- file=attached.lct
    sleep 1
    $1 detach \$jvm
    wait \$jvm
    $1 report attached.lct" >"$SYSTEM/tmp/attached"
  grep -q 'held by demo' "$SYSTEM/tmp/attached" ||
    die "$EXIT_BUILD" "the agent's report names nobody who held a lock"
}

# shellcheck disable=SC2016 # for the inner shell
use_packages() {
  trace_with javac java locktrace
  attach locktrace
  in_system sh -ec 'test "$(readlink -f /usr/bin/java)" = /usr/lib/jvm/locktrace-8-jdk-amd64/jre/bin/java
    update-java-alternatives --list | grep locktrace-8-jdk-amd64
    zcat /usr/share/man/man1/locktrace-report.1.gz | grep -q "\.SH OPTIONS"
    test -e /usr/share/bash-completion/completions/locktrace' 
}

remove_packages() {
  in_system apt-get purge -y locktrace locktrace-8-jdk
  files >"$SYSTEM/tmp/after"
  diff "$SYSTEM/tmp/before" "$SYSTEM/tmp/after"
}

# shellcheck disable=SC2016 # for the inner shell
use_tarballs() {
  in_system sh -ec 'mkdir /tmp/unpacked; cd /tmp/unpacked; for file in /srv/*.tar.xz; do tar xf "$file"; done'
  trace_with "/tmp/unpacked/locktrace-jdk*/bin/javac" "/tmp/unpacked/locktrace-jdk*/bin/java" \
    "/tmp/unpacked/locktrace-[0-9]*/bin/locktrace"
}

# Builds what packaging/Dockerfile describes on the bare system, without docker and without a registry.
buildah() {
  command buildah --root "$WORK/containers" --runroot "$WORK/run" --storage-driver vfs "$@"
}

build_images() {
  local base target
  base=$(buildah from scratch)
  buildah add --quiet "$base" "$WORK/base.tar" /
  buildah commit --quiet "$base" base
  for target in jdk tools; do
    buildah build --isolation chroot --build-arg BASE=localhost/base --file "$ROOT/packaging/Dockerfile" \
      --target "$target" --tag "$target" "$DIST"
  done
}

# run_image IMAGE ARGUMENT...: as docker would, with a folder of this machine as /app: in /traces, a volume of the
# image, buildah would show an empty one.
run_image() {
  local image=$1 container entry_point
  shift
  container=$(buildah from "localhost/$image")
  entry_point=$(buildah inspect --format '{{index .OCIv1.Config.Entrypoint 0}}' "$container")
  buildah run --isolation chroot --volume "$WORK/app:/app" "$container" -- "$entry_point" "$@"
  buildah rm "$container" >/dev/null
}

use_images() {
  mkdir "$WORK/app"
  cp -r "$SYSTEM/tmp/demo/demo" "$WORK/app"
  run_image jdk -XX:+TraceLockContention -XX:LockContentionTraceFile=/app/demo.lct -cp /app demo.Demo
  run_image tools report /app/demo.lct >"$WORK/report"
  grep -q 'held by demo.AuditLog.append' "$WORK/report" ||
    die "$EXIT_BUILD" "the report does not name demo.AuditLog.append"
}

run_step "$EXIT_BUILD" "check the packages with lintian" lintian --fail-on error,warning --tag-display-limit 0 --allow-root "$DIST"/*.deb
run_step "$EXIT_MACHINE" "make a bare system" make_system
run_step "$EXIT_MACHINE" "install what the packages need" install_needs
files >"$SYSTEM/tmp/before"
run_step "$EXIT_BUILD" "install the packages" install_packages_of_ours
run_step "$EXIT_BUILD" "trace with the packages" use_packages
run_step "$EXIT_BUILD" "remove the packages" remove_packages
run_step "$EXIT_BUILD" "trace with the tarballs" use_tarballs
run_step "$EXIT_BUILD" "build the images of containers" build_images
run_step "$EXIT_BUILD" "trace with the images" use_images
say "the packages install, work, and leave nothing behind"

#!/usr/bin/env bash
# Makes what people install, in build/dist. See --help, and docs/packages.md.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
readonly OUT=$ROOT/build/dist
CACHE=${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}
readonly CACHE
# shellcheck disable=SC2034 # for run_step
LOG_DIR=$ROOT/build/logs/dist

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"

readonly JDK=$ROOT/build/jdk PROGRAM=$ROOT/build/bin/locktrace
readonly AGENT=$ROOT/build/agent/liblocktrace.so JMX=$ROOT/build/locktrace-jmx.jar
# Distributors put in their own name, with the same variables as Debian's tools.
readonly MAINTAINER="${DEBFULLNAME:-locktrace developers} <${DEBEMAIL:-locktrace@localhost.localdomain}>"
# The priority is below those of the distribution's JDKs.
readonly JVM_NAME=locktrace-8-jdk-amd64 PRIORITY=81

usage() {
  cat <<END
Usage: scripts/dist.sh

Packs what \`make jdk tools agent jmx\` has built into build/dist:

  locktrace-jdk8uN-linux-x64.tar.xz    the traced JDK
  locktrace-VERSION-linux-x64.tar.xz   the command line with its manual and completions,
                                       the agent for other JDKs and the MBean
  locktrace-8-jdk_*.deb, locktrace_*.deb
                                       both as Debian packages for this distribution
  locktrace-VERSION-source.tar.xz      the sources of all of it, as the licence asks
  SHA256SUMS

The same build packed twice gives the same bytes.

DEBFULLNAME and DEBEMAIL name the packages' maintainer.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 something is missing.
END
}

case ${1-} in
  "") ;;
  -h | --help) usage; exit ;;
  *) usage >&2; die "$EXIT_USAGE" "unknown option: $1" ;;
esac
for built in "$JDK/release" "$PROGRAM" "$AGENT" "$JMX"; do
  [[ -e $built ]] || die "$EXIT_MACHINE" "$built is missing; run: make jdk tools agent jmx"
done
require_packages binutils dpkg-dev file git xz-utils

cd "$ROOT"
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
UPDATE=$(sed -n 's/^JAVA_VERSION="1\.8\.0_\(.*\)"$/\1/p' "$JDK/release")
[[ -n $VERSION && -n $UPDATE ]] ||
  die "$EXIT_BUILD" "expected a version in Cargo.toml and JAVA_VERSION=\"1.8.0_N\" in $JDK/release"
COMMIT=$(git rev-parse HEAD)
# All files are as old as the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
readonly VERSION UPDATE COMMIT SOURCE_DATE_EPOCH
STAGE=$(mktemp -d)
trap 'rm -rf "$STAGE"' EXIT

# tarball NAME DIRECTORY: with one folder at the top, and nothing of this machine in it.
tarball() {
  tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --directory "$(dirname "$2")" "$(basename "$2")" | xz --threads=2 -6 >"$OUT/$1"
}

# programs DIRECTORY: the programs and shared libraries there, each followed by a NUL.
programs() {
  # shellcheck disable=SC2016 # for the inner shell
  find "$1" -type f \( -name '*.so' -o -path '*/bin/*' -o -name jexec \) -exec sh -c '
    for file; do
      if file --brief "$file" | grep -q "^ELF"; then printf "%s\0" "$file"; fi
    done' sh {} + | sort --zero-terminated
}

# The JDK, with a note of what it is made of. The names of functions in the JVM stay, by which
# profilers know where it is.
stage_jdk() {
  local to=$1
  mkdir -p "$(dirname "$to")"
  cp -a "$JDK" "$to"
  rm "$to/.inputs"
  sed -i '/^SOURCE=/d' "$to/release"
  printf 'IMPLEMENTOR="locktrace %s"\nSOURCE=".:git:%.12s"\n' "$VERSION" "$COMMIT" >>"$to/release"
  programs "$to" | grep --null-data --invert-match '/libjvm\.so$' | xargs --null strip --strip-unneeded
  strip --strip-debug "$to/jre/lib/amd64/server/libjvm.so"
  chmod -R u=rwX,go=rX "$to"
  find "$to" -name '*.so' -type f -exec chmod 644 {} +
}

# The command line and what belongs to it, as in /usr.
stage_tools() {
  local to=$1 name=$2
  install -D "$PROGRAM" "$to/bin/locktrace"
  install -D -m 644 "$AGENT" "$to/lib/locktrace/liblocktrace.so"
  strip --strip-unneeded "$to/bin/locktrace" "$to/lib/locktrace/liblocktrace.so"
  install -D -m 644 "$JMX" "$to/share/locktrace/locktrace-jmx.jar"
  mkdir -p "$to/share/man/man1" "$to/share/bash-completion/completions" \
    "$to/share/zsh/vendor-completions" "$to/share/fish/vendor_completions.d" "$to/share/doc/$name"
  "$PROGRAM" man "$to/share/man/man1"
  gzip --best --no-name "$to"/share/man/man1/*
  "$PROGRAM" completions bash >"$to/share/bash-completion/completions/locktrace"
  "$PROGRAM" completions zsh >"$to/share/zsh/vendor-completions/_locktrace"
  "$PROGRAM" completions fish >"$to/share/fish/vendor_completions.d/locktrace.fish"
  cp README.md CHANGELOG.md "$to/share/doc/$name"
  chmod -R u=rwX,go=rX "$to"
}

# shared_libraries FILE...: the packages that hold what these are linked with.
shared_libraries() {
  local work=$STAGE/shlibs private=("$@")
  mkdir -p "$work/debian"
  printf 'Source: locktrace\n\nPackage: locktrace\nArchitecture: amd64\n' >"$work/debian/control"
  (cd "$work" && dpkg-shlibdeps -O --warnings=0 --ignore-missing-info \
    ${JVM_LIBRARIES:+-l"$JVM_LIBRARIES" -l"$JVM_LIBRARIES/server" -l"$JVM_LIBRARIES/jli"} \
    "${private[@]/#/-e}") | sed -n 's/^shlibs:Depends=//p'
}

# debian_package NAME VERSION DEPENDS: packs $STAGE/deb/NAME, which has what it installs.
debian_package() {
  local name=$1 version=$2 depends=$3 from=$STAGE/deb/$1 doc=$STAGE/deb/$1/usr/share/doc/$1
  install -D -m 644 packaging/copyright "$doc/copyright"
  printf '%s (%s) unstable; urgency=medium\n\n  * Built from commit %s.\n\n -- %s  %s\n' \
    "$name" "$version" "$COMMIT" "$MAINTAINER" \
    "$(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")" | gzip --best --no-name >"$doc/changelog.gz"
  install -D -m 644 "packaging/$name/lintian-overrides" "$from/usr/share/lintian/overrides/$name"
  mkdir -p "$from/DEBIAN"
  sed -e "s/@VERSION@/$version/; s/@DEPENDS@/$depends/; s/@JDK@/8u$UPDATE/; s/@MAINTAINER@/$MAINTAINER/" \
    -e "s/@SIZE@/$(du --summarize --block-size=1K "$from/usr" | cut -f 1)/" \
    "packaging/$name/control" >"$from/DEBIAN/control"
  for script in postinst prerm; do
    [[ ! -e packaging/$name/$script ]] || install -m 755 "packaging/$name/$script" "$from/DEBIAN/$script"
  done
  (cd "$from" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$from/DEBIAN/md5sums"
  dpkg-deb --root-owner-group --uniform-compression -Zxz --build "$from" "$OUT" >&2
}

pack_jdk() {
  stage_jdk "$STAGE/locktrace-jdk8u$UPDATE"
  tarball "locktrace-jdk8u$UPDATE-linux-x64.tar.xz" "$STAGE/locktrace-jdk8u$UPDATE"
}

pack_tools() {
  stage_tools "$STAGE/locktrace-$VERSION" locktrace
  cp LICENSE "$STAGE/locktrace-$VERSION"
  tarball "locktrace-$VERSION-linux-x64.tar.xz" "$STAGE/locktrace-$VERSION"
}

pack_jdk_package() {
  local from=$STAGE/deb/locktrace-8-jdk depends
  local home=$from/usr/lib/jvm/$JVM_NAME
  # The folder where dpkg-shlibdeps finds the neighbours of a library.
  mkdir -p "$(dirname "$home")" "$from/DEBIAN"
  cp -a "$STAGE/locktrace-jdk8u$UPDATE" "$home"
  # They would be compiled into every program's documentation.
  rm -rf "$home/demo" "$home/sample"
  jinfo "$home" >"$from/usr/lib/jvm/.$JVM_NAME.jinfo"
  chmod 644 "$from/usr/lib/jvm/.$JVM_NAME.jinfo"
  JVM_LIBRARIES=$home/jre/lib/amd64
  mapfile -d '' files < <(programs "$home")
  depends=$(shared_libraries "${files[@]}")
  debian_package locktrace-8-jdk "8u$UPDATE+$VERSION" "$depends"
}

# Prints the file for update-java-alternatives: each tool, of the JRE and of the JDK.
jinfo() {
  local home=$1 tool
  printf 'name=%s\nalias=%s\npriority=%s\nsection=main\n\n' "$JVM_NAME" "$JVM_NAME" "$PRIORITY"
  for tool in "$home"/jre/bin/*; do
    printf 'hl %s /usr/lib/jvm/%s/jre/bin/%s\n' "${tool##*/}" "$JVM_NAME" "${tool##*/}"
  done
  for tool in "$home"/bin/*; do
    [[ -e $home/jre/bin/${tool##*/} ]] ||
      printf 'jdkhl %s /usr/lib/jvm/%s/bin/%s\n' "${tool##*/}" "$JVM_NAME" "${tool##*/}"
  done
}

pack_tools_package() {
  local from=$STAGE/deb/locktrace depends
  stage_tools "$from/usr" locktrace
  gzip --best --no-name "$from/usr/share/doc/locktrace/CHANGELOG.md"
  JVM_LIBRARIES=
  depends=$(shared_libraries "$from/usr/bin/locktrace" "$from/usr/lib/locktrace/liblocktrace.so")
  debian_package locktrace "$VERSION" "$depends"
}

# The crates that are linked in, or generate code that is, each as NAME-VERSION.
linked_crates() {
  cargo tree --locked --package locktrace --package locktrace-agent --package rust-tracer \
    --edges normal,build --prefix none --format '{p}' | sed -E 's/^([^ ]+) v([^ ]+).*/\1-\2/' | sort -u
}

# Ours, those of OpenJDK as they were fetched, and those of the crates that are linked in.
pack_sources() {
  local to=$STAGE/locktrace-$VERSION-source upstream
  upstream=$(find "$CACHE/package" -mindepth 1 -maxdepth 1 -name "8u$UPDATE-*" | head -n 1)
  [[ -n $upstream ]] ||
    die "$EXIT_SOURCE" "$CACHE/package has no 8u$UPDATE-*: the JDK was built from other sources than the distribution's"
  mkdir -p "$to"
  git archive --prefix=locktrace/ "$COMMIT" | tar --extract --directory "$to"
  cp -r "$upstream" "$to/openjdk"
  cargo vendor --quiet --locked --versioned-dirs "$to/crates" >/dev/null
  # Crates that only tests or other systems use are not packed.
  linked_crates >"$STAGE/linked"
  for crate in "$to"/crates/*; do
    grep -qxF "${crate##*/}" "$STAGE/linked" || rm -rf "$crate"
  done
  chmod -R u=rwX,go=rX "$to"
  tarball "locktrace-$VERSION-source.tar.xz" "$to"
}

if [[ -n $(git status --porcelain) ]]; then
  notice "there are changes that are not committed; the sources will not have them"
fi
rm -rf "$OUT"
mkdir -p "$OUT"
run_step "$EXIT_BUILD" "pack the JDK" pack_jdk
run_step "$EXIT_BUILD" "pack the command line" pack_tools
run_step "$EXIT_BUILD" "make locktrace-8-jdk.deb" pack_jdk_package
run_step "$EXIT_BUILD" "make locktrace.deb" pack_tools_package
run_step "$EXIT_SOURCE" "pack the sources" pack_sources
(cd "$OUT" && sha256sum -- * >SHA256SUMS)
(cd "$OUT" && ls -l --human-readable) >&2

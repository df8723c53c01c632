#!/usr/bin/env bash
# Builds OpenJDK 8 with lock contention tracing, from upstream's source to
# build/jdk. See --help, and docs/patching.md for how the parts fit together.
set -euo pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
CACHE=$(realpath --canonicalize-missing "${LOCKTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/locktrace}")
readonly CACHE

# shellcheck source=lib/progress.sh
. "$ROOT/scripts/lib/progress.sh"
# shellcheck source=lib/options.sh
. "$ROOT/scripts/lib/options.sh"
# shellcheck source=lib/machine.sh
. "$ROOT/scripts/lib/machine.sh"
# shellcheck source=lib/debian-package.sh
. "$ROOT/scripts/lib/debian-package.sh"
# shellcheck source=lib/source.sh
. "$ROOT/scripts/lib/source.sh"
# shellcheck source=lib/patched-hotspot.sh
. "$ROOT/scripts/lib/patched-hotspot.sh"
# shellcheck source=lib/jdk.sh
. "$ROOT/scripts/lib/jdk.sh"
# shellcheck source=lib/class-libraries.sh
. "$ROOT/scripts/lib/class-libraries.sh"

readonly PACKAGES=(
  build-essential autoconf automake pkg-config
  file gawk procps rsync patch xz-utils zip unzip cpio
  libx11-dev libxext-dev libxrender-dev libxtst-dev libxt-dev libxi-dev
  libcups2-dev libfreetype6-dev libasound2-dev libfontconfig1-dev
  libelf-dev zlib1g-dev libjpeg-dev libpng-dev libgif-dev liblcms2-dev
  libpcsclite-dev patchelf
)

SOURCE=
BOOT_JDK=
DEBUG_LEVEL=release
IMAGE=
JOBS=$(nproc)
VARIANT=patched
VERIFY=no
# shellcheck disable=SC2034 # for lib/class-libraries.sh
FULL=no

usage() {
  cat <<END
Usage: scripts/build-openjdk.sh [OPTION]...

Builds OpenJDK 8 with lock contention tracing into build/jdk. What was built
before is used again; a run with nothing to do takes seconds.

  --source DIR|TARBALL   the forest of any OpenJDK 8 update; without it, the
                         distribution's source package openjdk-8, through apt
  --boot-jdk DIR         a JDK 7 or 8 to build with; without it, one that is
                         installed, or the distribution's package, unpacked
                         privately
  --debug-level LEVEL    release, fastdebug or slowdebug: HotSpot's assertions;
                         the image is build/jdk-fastdebug or build/jdk-slowdebug
  --full                 compile all classes, too, rather than take the class files of
                         the distribution's binary packages of the same version
  --stock                the same JDK without the hooks, into build/jdk-stock
  --image DIR            where the image goes instead, for example
                         build/jdk-8u45 beside build/jdk; an older image that is
                         there is replaced
  --verify               only check that every hook applies to the source
  --jobs N               parallel jobs (default: the processors, $(nproc))
  --help                 this text

Environment:
  LOCKTRACE_CACHE        downloads, sources and object files
                         (default: \${XDG_CACHE_HOME:-~/.cache}/locktrace)

Exit codes:
  0  built, or nothing to do      3  the machine lacks a package or tool
  1  a build step failed          4  the source or boot JDK is not to be had
  2  wrong usage                  5  a hook does not apply
END
}

parse_options() {
  while (($# > 0)); do
    case $1 in
    --source)
      SOURCE=$(absolute_path "$@")
      shift
      ;;
    --boot-jdk)
      BOOT_JDK=$(absolute_path "$@")
      shift
      ;;
    --debug-level)
      DEBUG_LEVEL=$(value_of "$@")
      shift
      ;;
    --image)
      IMAGE=$(value_of "$@")
      IMAGE=$(realpath --canonicalize-missing "$IMAGE")
      shift
      ;;
    --jobs)
      JOBS=$(value_of "$@")
      shift
      ;;
    --full) FULL=yes ;;
    --stock) VARIANT=stock ;;
    --verify) VERIFY=yes ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) die "$EXIT_USAGE" "unknown option: $1 (see --help)" ;;
    esac
    shift
  done
  [[ $DEBUG_LEVEL =~ ^(release|fastdebug|slowdebug)$ ]] ||
    die "$EXIT_USAGE" "--debug-level: expected release, fastdebug or slowdebug, found: $DEBUG_LEVEL"
  [[ $JOBS =~ ^[1-9][0-9]*$ ]] ||
    die "$EXIT_USAGE" "--jobs: expected a number above zero, found: $JOBS"
  [[ -z $BOOT_JDK || -x $BOOT_JDK/bin/javac ]] ||
    die "$EXIT_USAGE" "--boot-jdk: no JDK there, bin/javac is missing: $BOOT_JDK"
  # The target is replaced, so it must be an image.
  [[ -z $IMAGE || ! -e $IMAGE || -e $IMAGE/.inputs ]] ||
    die "$EXIT_USAGE" "--image: not an image that this script has built: $IMAGE"
}

absolute_path() {
  local path
  path=$(value_of "$@")
  realpath --canonicalize-existing --quiet "$path" || die "$EXIT_USAGE" "$1: no such file or folder: $path"
}

prepare_boot_jdk() {
  local private=$CACHE/boot-jdk
  if [[ -z $BOOT_JDK ]]; then
    BOOT_JDK=$(installed_boot_jdk)
  fi
  if [[ -z $BOOT_JDK ]]; then
    BOOT_JDK=$(boot_jdk_in "$private")
    if [[ ! -x $BOOT_JDK/bin/javac ]]; then
      require_apt_distribution
      run_step "$EXIT_SOURCE" "install boot JDK" install_boot_jdk "$private"
    fi
  fi
}

installed_boot_jdk() {
  local jdk
  for jdk in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    if [[ -x $jdk/bin/javac ]] && "$jdk/bin/javac" -version 2>&1 | grep -q '^javac 1\.[78]\.'; then
      printf '%s' "$jdk"
      return
    fi
  done
}

image_folder() {
  local name=$ROOT/build/jdk
  if [[ -n $IMAGE ]]; then
    printf '%s' "$IMAGE"
    return
  fi
  [[ $VARIANT == patched ]] || name+=-stock
  [[ $DEBUG_LEVEL == release ]] || name+=-$DEBUG_LEVEL
  printf '%s' "$name"
}

main() {
  parse_options "$@"
  LOG_DIR=$ROOT/build/logs/$(basename "$(image_folder)")
  require_x86_64_linux
  mkdir -p "$CACHE"
  lock 9 "$CACHE/lock"
  require_packages "${PACKAGES[@]}"
  if [[ $VARIANT == patched && $VERIFY == no ]]; then
    require_cargo
  fi
  prepare_forest
  if [[ $VERIFY == yes ]]; then
    verify_hooks || die "$EXIT_PATCH" "not every hook applies to $FOREST"
    return
  fi
  prepare_boot_jdk
  use_build_dir
  if [[ $VARIANT == patched ]]; then
    build_runtime
  fi
  build_hotspot "$VARIANT"
  build_class_libraries
  assemble_image "$(image_folder)"
}

main "$@"

# shellcheck shell=bash
# Configures and builds HotSpot, once per variant, and puts images together from it and
# the class libraries, which are the same for all variants.
#
# Sourced after patched-hotspot.sh; needs FOREST, FOREST_KIND, BOOT_JDK and the
# options DEBUG_LEVEL, JOBS.

# The C and C++ of the time: gnu++98 for HotSpot's register variables, tentative
# definitions in headers, and no assumption that `this` is never null.
readonly DIALECT=(-fno-delete-null-pointer-checks -fno-lifetime-dse)
readonly C_DIALECT=(-fcommon "${DIALECT[@]}")
readonly CXX_DIALECT=(-std=gnu++98 "${DIALECT[@]}")
# C2 of old updates counts on integers that wrap around (until JDK-8145096): without, it
# does not come to the end of a method as simple as String.equals.
readonly OLD_CXX_DIALECT=("${CXX_DIALECT[@]}" -fwrapv)

# use_build_dir: sets BUILD_DIR, named by all that the object files depend on
# apart from HotSpot's source and the arguments of configure.
use_build_dir() {
  local inputs
  inputs="$FOREST $BOOT_JDK $(gcc --version | head -n 1) ${C_DIALECT[*]} "
  if [[ $FOREST_KIND == package ]]; then
    inputs+="${CXX_DIALECT[*]}"
  else
    inputs+="${OLD_CXX_DIALECT[*]}"
  fi
  BUILD_DIR=$CACHE/builds/$(basename "$FOREST")-$(hash_of printf '%s' "$inputs")
  mkdir -p "$BUILD_DIR"
  prepare_compilers
}

# An upstream forest's configure passes extra flags to the class libraries only,
# so the dialect goes into compilers of our own, first in PATH.
prepare_compilers() {
  COMPILERS=$BUILD_DIR/compilers
  if [[ $FOREST_KIND == package || -d $COMPILERS ]]; then
    return
  fi
  mkdir -p "$COMPILERS.partial"
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nexec %s %s "$@" -Wno-error\n' \
    "$(command -v gcc)" "${C_DIALECT[*]}" >"$COMPILERS.partial/gcc"
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nexec %s %s "$@" -Wno-error\n' \
    "$(command -v g++)" "${OLD_CXX_DIALECT[*]}" >"$COMPILERS.partial/g++"
  chmod +x "$COMPILERS.partial"/*
  mv "$COMPILERS.partial" "$COMPILERS"
}

# configure_arguments LEVEL: one to a line.
configure_arguments() {
  printf '%s\n' \
    --with-boot-jdk="$BOOT_JDK" \
    --with-debug-level="$1" \
    --disable-zip-debug-info \
    --disable-headful \
    --enable-unlimited-crypto \
    --with-jvm-variants=server \
    --with-stdc++lib=dynamic
  # shellcheck disable=SC2046
  printf '%s\n' $(update_arguments)
  if [[ $1 != slowdebug ]]; then
    # They double the time to compile, and are of little use in optimized code.
    echo --disable-debug-symbols
  fi
  if [[ $FOREST_KIND == package ]]; then
    printf -- '--with-%s=system\n' zlib giflib libpng libjpeg lcms libpcsclite
    # Older updates have no choice to make here, they take the system's.
    if grep -q "'bundled' freetype" "$FOREST/common/autoconf/libraries.m4"; then
      echo --with-freetype=system
    fi
    printf '%s\n' \
      --with-extra-cflags="${C_DIALECT[*]}" \
      --with-extra-cxxflags="${CXX_DIALECT[*]}"
  fi
}

# build_environment COMMAND...: the JDK's makefiles react to many variables, those
# of an outer make among them, so they see none of the caller's. A JVM says that it was built on the date of
# its source, so that one that is built again is the same.
build_environment() {
  env --ignore-environment HOME="$HOME" PATH="$COMPILERS:$PATH" LC_ALL=C DISABLE_HOTSPOT_OS_VERSION_CHECK=ok \
    SOURCE_DATE_EPOCH="$(stat --format %Y "$FOREST/LICENSE")" "$@"
}

# configure_in DIR LEVEL ARGUMENT: configures DIR unless that is done.
configure_in() {
  local dir=$1 level=$2 arguments
  if is_configured "$dir" "$level"; then
    return
  fi
  rm -rf "$dir"
  mkdir -p "$dir"
  mapfile -t arguments < <(configure_arguments "$level")
  cd "$dir"
  build_environment bash "$FOREST/configure" "${arguments[@]}" "$3"
  configure_arguments "$level" >"$dir/configured"
}

is_configured() {
  [[ -f $1/configured && $(<"$1/configured") == "$(configure_arguments "$2")" ]]
}

# build_hotspot VARIANT: "patched" or "stock"; sets HOTSPOT_DIST, what an image
# gets of it. Clones share the folder of a variant, so it stays locked until the
# image is put together.
build_hotspot() {
  local variant=$1 dir=$BUILD_DIR/$1-$DEBUG_LEVEL
  mkdir -p "$dir"
  lock 9 "$dir/lock"
  if [[ $variant == patched ]]; then
    sync_patched_hotspot "$dir/hotspot"
    run_step "$EXIT_BUILD" "build patched HotSpot" \
      make_hotspot "$dir/out" "$dir/hotspot" HS_ALT_MAKE="$dir/hotspot/locktrace/make"
  else
    run_step "$EXIT_BUILD" "build stock HotSpot" make_hotspot "$dir/out" "$FOREST/hotspot"
  fi
  HOTSPOT_DIST=$dir/out/hotspot/dist
}

# make_hotspot OUT HOTSPOT [VARIABLE=VALUE]
make_hotspot() {
  local out=$1 hotspot=$2
  shift 2
  configure_in "$out" "$DEBUG_LEVEL" --with-override-hotspot="$hotspot"
  forget_half_written_objects "$out"
  touch "$out/running"
  build_environment make -C "$out" hotspot LOG=info JOBS="$JOBS" "$@" || {
    rm "$out/running"
    return 1
  }
  rm "$out/running"
  require_resolved_symbols "$out/hotspot/dist/jre/lib/amd64/server/libjvm.so"
}

# A compiler that is killed can leave half an object, which make takes for a whole
# one. What was written by a build that did not come to its end is written again.
forget_half_written_objects() {
  if [[ -f $1/running ]]; then
    find "$1/hotspot" -name '*.o' -newer "$1/running" -delete
  fi
}

# HotSpot links without "-z defs", so a symbol that the runtime lacks would only
# show when a JVM first calls it.
require_resolved_symbols() {
  local undefined
  undefined=$(ldd -r "$1" 2>&1 | grep 'undefined symbol' || true)
  if [[ -n $undefined ]]; then
    printf 'error: libjvm.so has undefined symbols\n%s\n' "$undefined"
    return 1
  fi
}

# assemble_image TARGET: the class libraries as hard links where the file system
# allows it, and this variant's HotSpot.
assemble_image() {
  local target=$1 partial=$1.partial replaced=$1.replaced inputs
  inputs="$CLASS_LIBRARIES $(hash_of list_files "$HOTSPOT_DIST")"
  if [[ -f $target/.inputs && $(<"$target/.inputs") == "$inputs" ]]; then
    say "up to date: $target"
    return
  fi
  rm -rf "$partial"
  mkdir -p "$(dirname "$target")"
  cp --archive --link "$CLASS_LIBRARIES" "$partial" 2>/dev/null || {
    rm -rf "$partial"
    cp --archive "$CLASS_LIBRARIES" "$partial"
  }
  # rsync replaces files, so that the class libraries' own copies stay as they are.
  rsync --archive "$HOTSPOT_DIST/jre/lib/amd64/" "$partial/jre/lib/amd64/"
  rsync --archive "$HOTSPOT_DIST/lib/" "$partial/lib/"
  use_machine_certificates "$partial"
  printf '%s' "$inputs" >"$partial/.inputs"
  # Programs that start from the image meanwhile find it whole, old or new.
  rm -rf "$replaced"
  if [[ -e $target ]]; then
    mv "$target" "$replaced"
  fi
  mv "$partial" "$target"
  rm -rf "$replaced"
  say "ready: $target"
}

# OpenJDK's own store of certificate authorities is empty.
use_machine_certificates() {
  local store=/etc/ssl/certs/java/cacerts
  if [[ -e $store ]]; then
    cp --remove-destination "$store" "$1/jre/lib/security/cacerts"
  fi
}

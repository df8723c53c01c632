# shellcheck shell=bash
# The patched HotSpot: upstream's folder, our hooks, overlay and runtime.
#
# Sourced after source.sh; needs ROOT and FOREST.

readonly PATCHES=$ROOT/hotspot-patches
readonly RUNTIME_HEADER=$ROOT/rust-tracer/include/locktrace.h
# Our makefile, which HotSpot includes as an "alternate vm.make".
readonly RUNTIME_MAKE=$ROOT/make/hotspot

# apply_hooks HOTSPOT: applies the series. Offsets are fine, since other updates
# shift lines; fuzz is not, since a hook has hardly any context to lose.
apply_hooks() {
  local hotspot=$1 hook output failed=0
  while read -r hook; do
    if ! is_needed "$hook" "$hotspot"; then
      echo "not needed  $hook: this update has no \"$(need_of "$hook")\""
    elif output=$(patch --directory="$hotspot" -p1 --batch --fuzz=0 --no-backup-if-mismatch <"$PATCHES/hooks/$hook"); then
      echo "applies     $hook"
    else
      echo "FAILED      $hook"
      printf '%s\n' "$output"
      failed=1
    fi
  done < <(series)
  return "$failed"
}

# The hooks in their order, without comments.
series() {
  sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "$PATCHES/series"
}

# need_of HOOK: the text that says, where upstream has it, that the hook is needed;
# nothing for a hook that always is.
need_of() {
  awk -v hook="$1" '$1 == hook && sub(/^[^#]*# needs: /, "")' "$PATCHES/series"
}

# is_needed HOOK HOTSPOT: decided by the source, not by whether the patch applies. A
# file that is not there decides nothing: then the hook has to apply, and fails.
is_needed() {
  local hook=$1 hotspot=$2 need file
  need=$(need_of "$hook")
  [[ -n $need ]] || return 0
  while read -r file; do
    if [[ ! -f $hotspot/$file ]] || grep --quiet --fixed-strings -e "$need" "$hotspot/$file"; then
      return 0
    fi
  done < <(files_of "$hook")
  return 1
}

# files_of HOOK...: upstream's files that the hooks patch.
files_of() {
  sed -n 's|^--- a/||p' "${@/#/$PATCHES/hooks/}" | sort -u
}

# verify_hooks: applies the series to a copy of the files that it touches.
verify_hooks() {
  local copy status=0
  copy=$(mktemp -d)
  (
    cd "$FOREST/hotspot"
    mapfile -t hooks < <(series)
    files_of "${hooks[@]}" | xargs cp --parents --target-directory="$copy"
  ) || true
  apply_hooks "$copy" || status=$?
  rm -rf "$copy"
  return "$status"
}

# build_runtime: builds the Rust library; sets RUNTIME_ARCHIVE.
build_runtime() {
  run_step "$EXIT_BUILD" "build Rust runtime" cargo_build_runtime
  # Where cargo puts it depends on the user's configuration, so ask.
  RUNTIME_ARCHIVE=$(cargo_build_runtime 2>/dev/null | grep -o '"[^"]*/librust_tracer\.a"' | tail -n 1 | tr -d '"')
  [[ -f $RUNTIME_ARCHIVE ]] || die "$EXIT_BUILD" "cargo built no librust_tracer.a"
  [[ -f $RUNTIME_HEADER ]] || die "$EXIT_BUILD" "no such file: $RUNTIME_HEADER"
}

cargo_build_runtime() {
  cargo build --manifest-path "$ROOT/Cargo.toml" --release --locked --package rust-tracer --lib \
    --message-format=json-render-diagnostics
}

# sync_patched_hotspot DIR: brings DIR up to date, giving a new time only to
# files whose content changed, so that make compiles nothing else.
sync_patched_hotspot() {
  local tree=$1 inputs
  inputs=$(patched_hotspot_inputs)
  if [[ -f $tree.inputs && $(<"$tree.inputs") == "$inputs" ]]; then
    return
  fi
  rm -f "$tree.inputs"
  run_step "$EXIT_PATCH" "patch HotSpot" patch_hotspot "$tree"
  printf '%s' "$inputs" >"$tree.inputs"
}

patched_hotspot_inputs() {
  find "$PATCHES" "$RUNTIME_MAKE" "$RUNTIME_HEADER" "$RUNTIME_ARCHIVE" -type f -print0 |
    LC_ALL=C sort --zero-terminated | xargs --null sha256sum | sed "s|  $ROOT/|  |"
}

patch_hotspot() {
  local tree=$1 staging=$1.staging
  rm -rf "$staging"
  # Hard links, where one file system holds both: patch and --remove-destination
  # replace files, never write into them.
  cp --recursive --link --preserve=mode "$FOREST/hotspot" "$staging" 2>/dev/null || {
    rm -rf "$staging"
    cp --recursive --preserve=mode "$FOREST/hotspot" "$staging"
  }
  apply_hooks "$staging"
  cp --recursive --remove-destination --no-target-directory "$PATCHES/overlay" "$staging"
  mkdir "$staging/locktrace"
  cp --recursive "$RUNTIME_MAKE" "$staging/locktrace/make"
  cp "$RUNTIME_HEADER" "$staging/locktrace"
  # The rest of libjvm.so has no debug information either.
  strip --strip-debug -o "$staging/locktrace/librust_tracer.a" "$RUNTIME_ARCHIVE"
  mkdir -p "$tree"
  rsync --recursive --links --perms --checksum --delete --itemize-changes "$staging/" "$tree/" | tee "$tree.changes"
  rm -rf "$staging"
  forget_deleted_sources "$tree"
}

# HotSpot's makefiles keep the object of a source that is gone, and the rule that
# names its old place.
forget_deleted_sources() {
  local objects=${1%/*}/out/hotspot name
  sed -n 's/^\*deleting .*\/\([^/]*\)\.cpp$/\1/p' "$1.changes" | while read -r name; do
    find "$objects" \( -name "$name.o" -o -name "$name.o.d" -o -name libjvm.so \) -delete
  done
}

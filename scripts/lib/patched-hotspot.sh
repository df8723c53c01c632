# shellcheck shell=bash
# The patched HotSpot: upstream's folder, our hooks, overlay and runtime, and the classes
# that it loads in place of the JDK's own.
#
# Sourced after source.sh; needs ROOT, FOREST and, to build, BOOT_JDK.

readonly PATCHES=$ROOT/hotspot-patches
readonly RUNTIME_HEADER=$ROOT/rust-tracer/include/locktrace.h
# Our makefile, which HotSpot includes as an "alternate vm.make".
readonly RUNTIME_MAKE=$ROOT/make/hotspot

# apply_hooks HOTSPOT: applies the series of hooks.
apply_hooks() {
  local hotspot=$1 hook failed=0
  while read -r hook; do
    if is_needed "$hook" "$hotspot"; then
      apply_patch "hooks/$hook" "$hotspot" || failed=1
    else
      echo "not needed  $hook: this update has no \"$(need_of "$hook")\""
    fi
  done < <(patches_of series)
  return "$failed"
}

# apply_class_patches JDK: applies the series of patches of the class library.
apply_class_patches() {
  local jdk=$1 patch failed=0
  while read -r patch; do
    apply_patch "class-library/$patch" "$jdk" || failed=1
  done < <(patches_of class-library.series)
  return "$failed"
}

# apply_patch PATCH FOLDER: says whether it applies. Offsets are fine, since other updates
# shift lines; fuzz is not, since a hook has hardly any context to lose.
apply_patch() {
  local output
  if output=$(patch --directory="$2" -p1 --batch --fuzz=0 --no-backup-if-mismatch <"$PATCHES/$1"); then
    echo "applies     ${1##*/}"
  else
    echo "FAILED      ${1##*/}"
    printf '%s\n' "$output"
    return 1
  fi
}

# patches_of SERIES: in their order, without comments.
patches_of() {
  sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "$PATCHES/$1"
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
  done < <(files_of "$PATCHES/hooks/$hook")
  return 1
}

# files_of PATCH...: upstream's files that the patches change.
files_of() {
  sed -n 's|^--- a/||p' "$@" | sort -u
}

# copy_files_of SERIES PATCHES FROM TO: copies the files that the series, whose patches lie
# in PATCHES, changes.
copy_files_of() {
  local patches
  mapfile -t patches < <(patches_of "$1")
  files_of "${patches[@]/#/$PATCHES/$2/}" | (
    cd "$3"
    xargs cp --parents --target-directory="$4"
  )
}

# verify_hooks: applies both series to copies of the files that they touch.
verify_hooks() {
  local copy status=0
  copy=$(mktemp -d)
  mkdir "$copy/hotspot" "$copy/jdk"
  copy_files_of series hooks "$FOREST/hotspot" "$copy/hotspot" || true
  copy_files_of class-library.series class-library "$FOREST/jdk" "$copy/jdk" || true
  apply_hooks "$copy/hotspot" || status=$?
  apply_class_patches "$copy/jdk" || status=$?
  rm -rf "$copy"
  return "$status"
}

# build_runtime: builds the Rust library; sets RUNTIME_ARCHIVE.
build_runtime() {
  run_step "$EXIT_BUILD" "build Rust runtime" cargo_build_runtime
  # The user's configuration chooses cargo's output folder, so ask for it.
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
  compile_classes "$staging/locktrace"
  # The rest of libjvm.so has no debug information either.
  strip --strip-debug -o "$staging/locktrace/librust_tracer.a" "$RUNTIME_ARCHIVE"
  mkdir -p "$tree"
  rsync --recursive --links --perms --checksum --delete --itemize-changes "$staging/" "$tree/" | tee "$tree.changes"
  rm -rf "$staging"
  forget_deleted_sources "$tree"
}

# compile_classes FOLDER: compiles the patched classes into FOLDER/locktrace_classes.inc, an
# array that lockTraceClassLibrary.cpp includes.
compile_classes() {
  local work=$1/classes sources class name
  mkdir -p "$work/jdk" "$work/out"
  copy_files_of class-library.series class-library "$FOREST/jdk" "$work/jdk"
  apply_class_patches "$work/jdk"
  mapfile -t sources < <(find "$work/jdk" -name '*.java')
  "$BOOT_JDK/bin/javac" -source 1.7 -target 1.7 -g -nowarn -XDignore.symbol.file -d "$work/out" "${sources[@]}"
  {
    echo 'static const LockTraceClassFile locktrace_classes[] = {'
    (cd "$work/out" && find . -name '*.class' -printf '%P\n' | LC_ALL=C sort) | while read -r class; do
      name=${class%.class}
      printf '  { "%s", (const unsigned char*)\n' "$name"
      od --address-radix=n --format=x1 --output-duplicates --width=24 "$work/out/$class" | sed 's/ /\\x/g; s/.*/    "&"/'
      printf '    , %d },\n' "$(stat --format=%s "$work/out/$class")"
    done
    echo '};'
  } >"$1/locktrace_classes.inc"
  rm -rf "$work"
}

# HotSpot's makefiles keep the object of a source that is gone, and the rule that
# names its old place.
forget_deleted_sources() {
  local objects=${1%/*}/out/hotspot name
  sed -n 's/^\*deleting .*\/\([^/]*\)\.cpp$/\1/p' "$1.changes" | while read -r name; do
    find "$objects" \( -name "$name.o" -o -name "$name.o.d" -o -name libjvm.so \) -delete
  done
}

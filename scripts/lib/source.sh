# shellcheck shell=bash
# The source of an OpenJDK 8 update: a forest, that is, the folders hotspot, jdk,
# langtools and others beside one configure script.
#
# Sourced after debian-package.sh; needs CACHE and the option SOURCE. Forests lie
# in CACHE/sources, named by their content, and are never changed once whole.

# prepare_forest: sets FOREST, and FOREST_KIND to "package" for the
# distribution's source or to "upstream" for one given with --source.
prepare_forest() {
  if [[ -z $SOURCE ]]; then
    FOREST_KIND=package
    prepare_package_forest
  else
    FOREST_KIND=upstream
    prepare_given_forest
  fi
}

prepare_package_forest() {
  local package update
  if [[ -z $(package_dir) ]]; then
    require_apt_distribution
    run_step "$EXIT_SOURCE" "download OpenJDK 8" download_source_package
  fi
  package=$(package_dir)
  update=$(update_of "$package")
  if [[ $update != "8u$EXPECTED_UPDATE" ]]; then
    notice "the distribution's OpenJDK is $update; the hooks are developed against 8u$EXPECTED_UPDATE"
  fi
  use_forest "$update" "$(hash_of cat "$package"/*.dsc) ${DISTRIBUTION_PATCHES[*]}" unpack_source_package "$package"
}

prepare_given_forest() {
  local name
  name=$(basename "$SOURCE")
  if [[ -d $SOURCE ]]; then
    use_forest "$name" "$SOURCE $(hash_of list_files "$SOURCE")" copy_forest "$SOURCE"
  elif [[ -f $SOURCE ]]; then
    use_forest "${name%%.t*}" "$(hash_of cat "$SOURCE")" unpack_forest "$SOURCE"
  else
    die "$EXIT_USAGE" "--source: no such folder or file: $SOURCE"
  fi
}

# use_forest NAME CONTENT COMMAND ARGUMENT: the forest with that content, made by
# `COMMAND ARGUMENT FOLDER` unless it is there already.
use_forest() {
  local name=$1 content=$2
  shift 2
  FOREST=$CACHE/sources/$name-$(hash_of printf '%s' "$content $(declare -f make_portable)")
  if [[ ! -d $FOREST ]]; then
    run_step "$EXIT_SOURCE" "unpack OpenJDK $name" make_forest "$FOREST" "$@"
  fi
}

make_forest() {
  local forest=$1 partial=$1.partial
  shift
  rm -rf "$partial"
  mkdir -p "$partial"
  "$@" "$partial"
  require_forest "$partial"
  if [[ $FOREST_KIND == package ]]; then
    # The distribution's patches change what configure is generated from.
    bash "$partial/common/autoconf/autogen.sh"
  fi
  make_portable "$partial"
  mv "$partial" "$forest"
}

copy_forest() {
  rsync --archive --exclude=.git --exclude=.hg --exclude=/build "$1/" "$2/"
}

unpack_forest() {
  local tarball=$1 forest=$2 top
  tar xf "$tarball" -C "$forest"
  top=$(find "$forest" -mindepth 1 -maxdepth 1)
  if [[ -d $top ]]; then
    # Everything is in one folder, as usual.
    mv "$top" "$forest.top"
    rmdir "$forest"
    mv "$forest.top" "$forest"
  fi
}

require_forest() {
  local needed
  for needed in configure common/autoconf hotspot/src/share/vm hotspot/make jdk/src langtools corba jaxp jaxws nashorn; do
    if [[ ! -e $1/$needed ]]; then
      echo "error: not the forest of an OpenJDK 8 update: it has no $needed"
      return 1
    fi
  done
}

# Adds the changes, apart from compiler flags, that an older update needs to be compiled today.
make_portable() {
  # No order between a pointer and zero in today's C++.
  sed -i 's/Universe::narrow_oop_base() > 0)/Universe::narrow_oop_base() != NULL)/' "$1/hotspot/src/share/vm/opto/lcm.cpp"
  sed -i 's/if (base() > 0)/if (base() != NULL)/' "$1/hotspot/src/share/vm/runtime/virtualspace.cpp"
  # Gone from the C library, and needed for nothing on Linux.
  sed -i '/#include <sys\/sysctl.h>/d' "$1"/jdk/src/solaris/native/java/net/Plain{,Datagram}SocketImpl.c
  # Currencies that changed more than ten years ago are taken for a mistake.
  sed -i 's/((long) 10) \* 365/((long) 100) * 365/' "$1/jdk/make/src/classes/build/tools/generatecurrencydata/GenerateCurrencyData.java"
}

# update_arguments: what configure needs to know of the version, for example
# "--with-update-version=45 --with-build-number=b14" from "jdk8u45-b14".
update_arguments() {
  local update build
  if [[ -e $FOREST/.update ]]; then
    read -r update build <"$FOREST/.update"
  elif [[ $(basename "$SOURCE") =~ 8u([0-9]+)(-(b[0-9]+))? ]]; then
    update=${BASH_REMATCH[1]} build=${BASH_REMATCH[3]}
  else
    return 0
  fi
  printf -- '--with-update-version=%s --with-build-number=%s --with-milestone=fcs' "$update" "${build:-b00}"
}

# hash_of COMMAND...: a short hash of the command's output.
hash_of() {
  "$@" | sha256sum | cut -c1-12
}

list_files() {
  (cd "$1" && find . -name .git -prune -o -name .hg -prune -o -type f -printf '%P %s %T@\n' | LC_ALL=C sort)
}

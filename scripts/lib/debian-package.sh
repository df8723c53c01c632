# shellcheck shell=bash
# The default source and boot JDK: the package openjdk-8 of the machine's own
# distribution.
#
# apt fetches from the mirror that the machine is set up with and checks every
# signature. Debian releases no longer carry openjdk-8, its suite "sid" does; so
# apt runs with a private list of sources, and the machine's own lists stay as
# they are. Sourced after progress.sh and machine.sh; needs CACHE.

readonly SOURCE_PACKAGE=openjdk-8
# The update that the hooks are developed against.
# shellcheck disable=SC2034 # for the scripts that source this
readonly EXPECTED_UPDATE=504
readonly BOOT_PACKAGES=(openjdk-8-jre-headless openjdk-8-jdk-headless)

require_apt_distribution() {
  case $(distribution) in
  debian | ubuntu) ;;
  *) die "$EXIT_SOURCE" "no openjdk-8 package is known for '$(distribution)': give --source and --boot-jdk" ;;
  esac
}

# private_apt TOOL ARGUMENTS...: apt-get or apt-cache over the private sources.
private_apt() {
  local tool=$1
  shift
  "$tool" \
    -o Dir::Etc::sourcelist="$CACHE/apt/openjdk.sources" \
    -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null \
    -o Dir::State::Lists="$CACHE/apt/lists" \
    -o Dir::Cache="$CACHE/apt/cache" \
    -o APT::Architectures=amd64 \
    -o APT::Sandbox::User=root \
    -o Acquire::Languages=none \
    "$@"
}

update_private_apt() {
  local uri suites components keyring
  mkdir -p "$CACHE/apt/lists/partial" "$CACHE/apt/cache/archives/partial"
  uri=$(own_mirror)
  if [[ -z $uri ]]; then
    # A fresh machine has no package lists yet.
    ((EUID != 0)) || apt-get update
    uri=$(own_mirror)
  fi
  if [[ -z $uri ]]; then
    echo "E: apt has no package lists of $(distribution)'s own archive; run 'apt-get update' as root"
    return 1
  fi
  if [[ $(distribution) == debian ]]; then
    suites=sid components=main
  else
    suites=$(own_suites) components="main universe"
  fi
  keyring=/usr/share/keyrings/$(distribution)-archive-keyring.gpg
  {
    echo "Types: deb deb-src"
    echo "URIs: $uri"
    echo "Suites: $suites"
    echo "Components: $components"
    if [[ -e $keyring ]]; then
      echo "Signed-By: $keyring"
    fi
  } >"$CACHE/apt/openjdk.sources"
  private_apt apt-get update
}

# The mirror of the machine's own entry, whichever style its file is written in.
own_mirror() {
  own_indexes | awk -F'|' '$3 !~ /-/ { print $2; exit }'
}

# Ubuntu's release and its updates, for example "noble noble-updates".
own_suites() {
  own_indexes | awk -F'|' -v mirror="$(own_mirror)" '$2 == mirror { print $3 }' | sort -u | paste -sd ' '
}

# One line "origin|mirror|suite" for each of the distribution's package lists.
own_indexes() {
  # The $(...) are apt's own.
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(RELEASE)' 'Created-By: Packages' |
    grep -i "^$(distribution)|" || true
}

# package_dir: where the newest downloaded version lies; nothing if none does.
package_dir() {
  local dsc
  dsc=$(find "$CACHE/package" -mindepth 2 -maxdepth 2 -name "${SOURCE_PACKAGE}_*.dsc" 2>/dev/null | sort -V | tail -n 1)
  if [[ -n $dsc ]]; then
    dirname "$dsc"
  fi
}

# source_version: of the source package, for example "8u504-ga-1".
source_version() {
  basename "$(package_dir)"
}

# Downloads into a folder of the version's name, which appears when it is whole.
download_source_package() {
  local partial=$CACHE/package.partial version
  update_private_apt
  rm -rf "$partial"
  mkdir -p "$partial" "$CACHE/package"
  cd "$partial"
  private_apt apt-get source --download-only "$SOURCE_PACKAGE"
  version=$(sed -n 's/^Version: //p' ./*.dsc)
  mv "$partial" "$CACHE/package/$version"
}

# update_of DIR: "8u504" for a folder named by the version "8u504-ga-1".
update_of() {
  local version
  version=$(basename "$1")
  printf '%s' "${version%%[-~+]*}"
}

# The source package is a tar of tars: one for each repository of the forest.
unpack_source_package() {
  local package=$1 forest=$2 parts repository
  parts=$(mktemp -d "$CACHE/parts.XXXXXX")
  tar xf "$package/${SOURCE_PACKAGE}"_*.orig.tar.gz -C "$parts" --strip-components=1
  tar xf "$package/${SOURCE_PACKAGE}"_*.debian.tar.xz -C "$parts"
  tar xf "$parts/root.tar.xz" -C "$forest" --strip-components=1
  for repository in hotspot jdk langtools corba jaxp jaxws nashorn; do
    mkdir "$forest/$repository"
    tar xf "$parts/$repository.tar.xz" -C "$forest/$repository" --strip-components=1
  done
  apply_distribution_patches "$parts/debian/patches" "$forest"
  # "504-b01", in the package's own build rules.
  sed -n 's/^version_dash_buildnr[[:space:]]*= *\([0-9]*\)-\(b[0-9]*\)$/\1 \2/p' "$parts/debian/rules" | tail -n 1 >"$forest/.update"
  rm -rf "$parts"
}

# The package strips the bundled zlib, libpng, libjpeg, giflib and lcms from the
# source; these patches make it build with the system's, and with newer
# compilers. The desktop and branding patches are left out.
readonly DISTRIBUTION_PATCHES=(
  autoconf-select bootstrap-with-8 fix-encoding catch-configure-errors
  disable-werror hotspot-set-compiler ppc64el system-libjpeg system-libpng
  system-lcms system-pcsclite link-with-as-needed ld-symbolic-functions-default
  hotspot-mips-align hotspot-no-march-i586 icc_loading_with_symlink
  libpcsclite-dlopen zero-fpu-control-is-noop default-jvm-cfg-default
  disable-doclint-by-default pass-extra-flags
  workaround_expand_exec_shield_cs_limit zero-architectures libjpeg-fix
  sparc-fixes jdk-target-arch-define compiler-flags sparc-inline-conflict
  zero-sh t64-dlsyms jdk-8334502-time_t gcc14 hotspot-libpath-default
  adlc-parser
)

apply_distribution_patches() {
  local patches=$1 forest=$2 name file
  for name in "${DISTRIBUTION_PATCHES[@]}"; do
    file=$(find "$patches" -name "$name.diff" -o -name "$name.patch")
    if [[ -z $file ]]; then
      echo "the package no longer has the patch $name"
      continue
    fi
    patch --directory="$forest" -p1 --batch --no-backup-if-mismatch <"$file"
  done
}

# install_boot_jdk DIR: unpacks the binary packages there. Where the machine's C
# library is older than the one they were built for, a newer one is put beside
# them, and their executables are pointed to it. What was downloaded stays in apt's archives.
install_boot_jdk() {
  local target=$1 partial=$1.partial deb jdk
  update_private_apt
  rm -rf "$partial"
  mkdir -p "$partial/packages"
  (cd "$partial/packages" && private_apt apt-get download "${BOOT_PACKAGES[@]}")
  for deb in "$partial"/packages/*.deb; do
    dpkg -x "$deb" "$partial"
  done
  jdk=$(boot_jdk_in "$partial")
  own_configuration_files "$partial" "$jdk"
  if ! "$jdk/bin/java" -version; then
    add_private_libc "$partial" "$target" "$jdk"
  fi
  mv "$partial"/packages/*.deb "$CACHE/apt/cache/archives"
  rmdir "$partial/packages"
  rm -rf "$target"
  mv "$partial" "$target"
  "$(boot_jdk_in "$target")/bin/javac" -version
}

boot_jdk_in() {
  printf '%s' "$1/usr/lib/jvm/java-8-openjdk-amd64"
}

# The packages link their configuration into /etc: take the copy they carry.
own_configuration_files() {
  local root=$1 jdk=$2 link
  while read -r link; do
    cp --remove-destination "$root$(readlink "$link")" "$link"
  done < <(find "$jdk" -type l -lname '/etc/java-8-openjdk/*')
}

add_private_libc() {
  local root=$1 final_root=$2 jdk=$3 libraries=usr/lib/x86_64-linux-gnu executable
  echo "this machine's C library is too old for the boot JDK: adding a private one"
  (cd "$root/packages" && private_apt apt-get download libc6)
  dpkg -x "$root"/packages/libc6_*.deb "$root"
  for executable in "$jdk"/bin/* "$jdk"/jre/bin/*; do
    if [[ -L $executable ]] || ! file -b "$executable" | grep -q '^ELF'; then
      continue
    fi
    patchelf --set-interpreter "$final_root/$libraries/ld-linux-x86-64.so.2" --force-rpath \
      --set-rpath "$final_root/$libraries:$(patchelf --print-rpath "$executable")" "$executable"
  done
}

# shellcheck shell=bash
# What is needed of the machine: its kind, packages, a Rust toolchain.

# distribution: "debian", "ubuntu", or whatever else the machine runs.
distribution() {
  # shellcheck source=/dev/null
  (. /etc/os-release 2>/dev/null && printf '%s' "${ID:-unknown}")
}

require_x86_64_linux() {
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    die "$EXIT_MACHINE" "the hooks are written for Linux on x86_64; this is $(uname -sm)"
}

# require_packages PACKAGE...: installs what is missing when we are root.
require_packages() {
  local missing install
  if ! command -v dpkg-query >/dev/null; then
    notice "this machine has no dpkg, so its packages are not checked; the build needs the equivalents of: $*"
    return
  fi
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then
    return
  fi
  install="apt-get install --no-install-recommends -y $missing"
  if ((EUID != 0)); then
    die "$EXIT_MACHINE" "packages are missing; install them as root with:
  $install"
  fi
  run_step "$EXIT_MACHINE" "install packages" install_packages "$missing"
}

missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' | sed -n 's/^installed / /p' | tr ',\n' '  ')
  for package in "$@"; do
    if [[ " $installed " != *" $package "* ]]; then
      printf '%s ' "$package"
    fi
  done
}

install_packages() {
  local packages
  read -ra packages <<<"$1"
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends -y "${packages[@]}"
}

# The browser of the tests; LOCKTRACE_CHROMIUM names another one.
require_browser() {
  [[ -n ${LOCKTRACE_CHROMIUM-} ]] || require_packages chromium-headless-shell fonts-dejavu-core
}

require_cargo() {
  command -v cargo >/dev/null || PATH=$PATH:$HOME/.cargo/bin
  command -v cargo >/dev/null ||
    die "$EXIT_MACHINE" "a Rust toolchain is needed, but there is no cargo in PATH; install one with rustup or from your distribution (--stock needs none)"
}

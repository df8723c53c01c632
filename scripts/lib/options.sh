# shellcheck shell=bash
# Values of options. Expects EXIT_USAGE and die.

# The value of the option $1, which is $2.
value_of() {
  [[ -n ${2:-} ]] || die "$EXIT_USAGE" "$1 needs a value (see --help)"
  printf '%s' "$2"
}

# The same, which must be a number above zero.
number_of() {
  local number
  number=$(value_of "$@")
  [[ $number =~ ^[1-9][0-9]*$ ]] || die "$EXIT_USAGE" "$1: expected a number above zero, found: $number"
  printf '%s' "$number"
}

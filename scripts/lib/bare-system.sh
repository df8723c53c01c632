# shellcheck shell=bash
# A bare system of this machine's distribution in a folder of its own, SYSTEM. It is removed at the end, with
# all of WORK. Nothing of the machine is mounted there but its processes, so that removing it can do no harm.
#
# Sourced after debian-package.sh.

WORK=$(mktemp -d)
readonly WORK SYSTEM=$WORK/system
trap 'umount "$SYSTEM/proc" 2>/dev/null || true; rm -rf --one-file-system "$WORK"' EXIT

in_system() {
  chroot "$SYSTEM" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C DEBIAN_FRONTEND=noninteractive "$@"
}

# With the distribution's mirror and its keys, as this machine has them.
make_bare_system() {
  local suite keyring
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  keyring=/usr/share/keyrings/$(distribution)-archive-keyring.gpg
  debootstrap --variant=minbase --keyring="$keyring" "$suite" "$SYSTEM" "$(own_mirror)"
  mount -t proc proc "$SYSTEM/proc"
}

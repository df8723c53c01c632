# shellcheck shell=bash
# What is in an image of a JDK, for those that compare two.

# files_in IMAGE: one to a line, links with where they lead.
files_in() {
  (cd "$1" && find . -name .inputs -o -type f -printf '%P\n' -o -type l -printf '%P -> %l\n' | sort)
}

# entries_of JAR: "name size checksum", one to a line.
entries_of() {
  unzip -lv "$1" | awk '$7 ~ /^[0-9a-f]{8}$/ && $8 !~ /\/$/ { print $8, $1, $7 }' | sort
}

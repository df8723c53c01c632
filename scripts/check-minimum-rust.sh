#!/usr/bin/env bash
# Checks that what is built compiles with the oldest Rust that Cargo.toml declares.
# Where that toolchain is neither installed nor to be had, it says so and passes:
# lint must work offline.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -nE 's/^rust-version = "(.*)"$/\1/p' Cargo.toml)
[[ -n $version ]] || { echo "Cargo.toml: expected a rust-version, found none" >&2; exit 1; }

skip() {
  echo "check-minimum-rust: skipped: $1" >&2
  exit 0
}

command -v rustup > /dev/null || skip "there is no rustup to choose Rust $version with"
if ! rustup run "$version" rustc --version > /dev/null 2>&1; then
  timeout 300 rustup toolchain install "$version" --profile minimal > /dev/null 2>&1 \
    || skip "Rust $version is not installed and could not be fetched"
fi
# The crates that people build, not tests and benchmarks. In a target directory of their own, so
# that the two toolchains do not undo each other's work.
RUSTUP_TOOLCHAIN=$version cargo check --quiet --locked --target-dir "${CARGO_TARGET_DIR:-target}/minimum-rust" \
  --workspace --exclude jvm-tests --exclude locktrace-bench --exclude magnify

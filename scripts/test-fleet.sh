#!/usr/bin/env bash
# Asks the questions of fleet/ on a Spark cluster of this machine; test/fleet/test_fleet.py says more, and
# has the options. Takes 10 GB of memory.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT
# The folder of rustup's cargo, which only a login shell may know.
PATH=$PATH:$HOME/.cargo/bin

"$ROOT/scripts/install-test-packages.sh" --fleet
cargo build --quiet --release --locked --manifest-path "$ROOT/Cargo.toml" --package magnify
PYTHONPATH=$ROOT/build/test-python exec /usr/bin/python3 "$ROOT/test/fleet/test_fleet.py" "$@"

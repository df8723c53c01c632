# Checks that need no JDK.

.PHONY: lint test-packages

lint: test-packages ## rustfmt, clippy, shellcheck, hooks, licences
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	hotspot-patches/check.sh
	hotspot-patches/test-needs.sh
	scripts/check-licences.sh
	shellcheck --external-sources --check-sourced scripts/*.sh hotspot-patches/*.sh bench/hook-costs bench/report-speed bench/run .ci/run

test-packages:
	scripts/install-test-packages.sh

# Checks that need no JDK.

.PHONY: lint check test-packages export-matrix

lint: test-packages ## rustfmt, clippy, docs, oldest Rust, shellcheck, hooks, licences, wording
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --document-private-items --locked
	scripts/check-minimum-rust.sh
	hotspot-patches/check.sh
	hotspot-patches/test-needs.sh
	scripts/check-licences.sh
	scripts/check-wording.sh
	shellcheck --external-sources --check-sourced scripts/*.sh hotspot-patches/*.sh findings/*.sh bench/agent-costs bench/agent-instructions bench/hook-costs bench/many-threads bench/pack bench/pack-run.sh bench/report-speed bench/run bench/start-pauses bench/uncontended bench/unload-pauses .ci/run

# The inner loop: what a change of Rust code can break without a JDK. Installs nothing.
check: ## rustfmt, clippy, wording, and the tests that need no JDK, in two minutes
	cargo fmt --all --check
	scripts/check-wording.sh
	cargo clippy --all-targets --locked -- -D warnings
	cargo test --quiet --locked --workspace --exclude jvm-tests --exclude trace-analysis
	@# Without those of memory and time, which take another minute.
	cargo test --quiet --locked --package trace-analysis --lib --test analysis

test-packages:
	scripts/install-test-packages.sh

# The rows go first, so that none stays of a reader that no test opens any more.
export-matrix: test-packages stock-jdks ## the matrix of docs/export.md, anew: readers of exports, by the tests
	sed --in-place '/^<!-- matrix -->$$/,/^<!-- end of matrix -->$$/ { /^| `/d }' docs/export.md
	LOCKTRACE_MATRIX=write cargo test --locked -p locktrace --test readers export::

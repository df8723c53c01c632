# The ways into the project; `make help` lists them. The work is done by scripts
# and by cargo, and what is up to date is not done again.

.DEFAULT_GOAL := help
# Builds lock the shared cache, so running them at once gains nothing.
.NOTPARALLEL:

include make/jdk.mk
include make/rust.mk
include make/agent.mk
include make/viewer.mk
include make/hotspot-tests.mk
include make/old-update.mk
include make/images.mk
include make/fleet.mk
include make/lint.mk
include make/fuzz.mk
include make/jmh.mk
include make/jmx.mk
include make/bench.mk
include make/dist.mk
include make/sanitize.mk
include make/stress.mk
include make/what-if.mk

.PHONY: help demo test test-jvm test-nightly clean clean-cache

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: jdk tools ## build all, trace a contended program, print the report
	scripts/demo.sh

# The command line as cargo builds it for tests, with debug assertions: `make tools` takes minutes
# to optimize the one for people.
TESTED := $(TARGET)/debug/locktrace

# One selection of packages for all, as another one would be compiled anew.
TEST := cargo test --workspace --locked --no-fail-fast

test: export LOCKTRACE_BIN = $(TESTED)
test: jdk jdk-stock stock-jdks agent jmx lint loom-and-fuzz ## every check and test
	@# The command line first, and the rest while the browser, which waits half of the time, tests that.
	$(TEST) --no-run --test cli --test readers
	scripts/at-once.sh \
	  viewer-tests '$(MAKE) test-viewer LOCKTRACE=$(TESTED)' \
	  compile-tests "$(TEST) --no-run --lib --bins --test '*'"
	@# The second line also if a test of the first one fails.
	failed=0; $(TEST) --test jvm_alone || failed=1; \
	scripts/at-once.sh \
	  jvm-tests 'RUST_TEST_THREADS=$(AT_ONCE) $(TEST) --test jvm_among_others' \
	  other-tests "$(TEST) --lib --bins --test '[!j]*' && $(TEST) --doc" && exit $$failed

test-jvm: export LOCKTRACE_BIN = $(TESTED)
test-jvm: jdk jdk-stock stock-jdks agent jmx test-packages ## of these the tests on JVMs
	cargo build --locked --package locktrace
	RUST_TEST_THREADS=$(AT_ONCE) cargo test --locked --no-fail-fast --package jvm-tests

# The JVMs of those tests wait more than they compute.
AT_ONCE = $(shell expr 2 '*' $$(nproc))

# Cargo compiles both on one processor most of the time.
.PHONY: loom-and-fuzz
loom-and-fuzz:
	scripts/at-once.sh loom '$(MAKE) loom' fuzz-build '$(MAKE) fuzz-build'
	$(MAKE) fuzz-smoke FUZZ_TIME=5

test-nightly: test tools ## the same, with many times the cases, and the command line that people get
	PROPTEST_CASES=100000 cargo test --release --locked -p trace-format -p trace-analysis
	@if command -v valgrind >/dev/null; then \
	  LOCKTRACE_NIGHTLY=1 cargo test --release --locked -p trace-analysis --test bounds convoys; \
	else echo "note: valgrind is not installed, so no instructions are counted"; fi
	LOCKTRACE_NIGHTLY=1 LOCKTRACE_BIN=$(CURDIR)/build/bin/locktrace cargo test --locked -p jvm-tests
	scripts/same-output.sh
	$(MAKE) test-viewer
	$(MAKE) what-if-pairs
	$(MAKE) fuzz-smoke FUZZ_TIME=300
	$(if $(FOREST),$(MAKE) test-8u45,@echo "note: no FOREST=DIR|TARBALL was given, so 8u45 is left out")

clean: ## remove what this clone has built
	rm -rf build test/jmh/target viewer/node_modules
	cargo clean

clean-cache: ## remove what all clones share: sources, object files, boot JDK
	rm -rf $(addprefix $(CACHE)/,apt package sources builds boot-jdk test-packages target target.lock lock)

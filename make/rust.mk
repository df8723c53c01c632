# The command line, and tests of what runs inside the JVM.

# The folder of rustup's cargo, which only a login shell may know.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Cargo's output.
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)

.PHONY: tools loom

tools: ## build/bin/locktrace
	scripts/build-tools.sh

loom: ## the runtime's hand-overs, in every interleaving
	RUSTFLAGS="--cfg loom" cargo test --quiet --locked --package rust-tracer --lib --target-dir $(TARGET)/loom

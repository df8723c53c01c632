# The command line, and tests of what runs inside the JVM.

# Where rustup puts cargo, which a shell that is no login shell may not know.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Where cargo puts what it builds.
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)

.PHONY: tools loom

tools: ## build/bin/locktrace
	scripts/build-tools.sh

loom: ## the runtime's hand-overs, in every interleaving
	RUSTFLAGS="--cfg loom" cargo test --quiet --locked --package rust-tracer --lib --target-dir $(TARGET)/loom

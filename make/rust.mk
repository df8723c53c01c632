# The command line.

# Where rustup puts cargo, which a shell that is no login shell may not know.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: tools

tools: ## build/bin/locktrace
	cargo install --quiet --locked --no-track --force --path crates/locktrace --root build

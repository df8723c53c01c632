# The command line.

.PHONY: tools

tools: ## build/bin/locktrace
	cargo install --quiet --locked --no-track --force --path crates/locktrace --root build

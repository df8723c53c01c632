# Checks that need no JDK.

.PHONY: lint

lint: ## rustfmt, clippy, shellcheck, hooks, licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	hotspot-patches/check.sh
	scripts/check-licences.sh
	@if command -v shellcheck >/dev/null; then \
	  shellcheck --external-sources --check-sourced scripts/*.sh hotspot-patches/*.sh .ci/run; \
	else \
	  echo "note: shellcheck is not installed, so the scripts are not checked"; \
	fi

# Fuzzing of the readers of traces and class files. The layout of fuzz/ is cargo-fuzz's, which needs
# a nightly compiler (`cargo +nightly fuzz run rearrange`); here the targets are built with the
# stable one, whose LLVM can record coverage as well.

FUZZ_TARGETS := analyze_trace decode_segment instrument_class instrument_parks read_trace rearrange
# Seconds for each target.
FUZZ_TIME := 10

FUZZ_HOST = $(shell PATH="$(PATH)" rustc -vV | sed -n 's/^host: //p')
FUZZ_DIR := $(CURDIR)/build/fuzz
FUZZ_TARGET := $(TARGET)/fuzz
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module \
  -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
  -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares \
  -Ccodegen-units=1

.PHONY: fuzz-build fuzz-smoke test-nightly $(FUZZ_TARGETS:%=fuzz-%)

# With --target, so that build scripts are not built with coverage.
fuzz-build:
	RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --quiet --release --locked \
	  --manifest-path fuzz/Cargo.toml --target-dir $(FUZZ_TARGET) --target $(FUZZ_HOST)

# One for each processor at a time; what one says comes in one piece.
fuzz-smoke: fuzz-build ## fuzz each reader of traces and classes for FUZZ_TIME=10 seconds
	@mkdir -p $(FUZZ_DIR)
	@printf '%s\n' $(FUZZ_TARGETS) | xargs --max-procs=$(shell nproc) -I TARGET sh -c \
	  '$(MAKE) --no-print-directory fuzz-TARGET FUZZ_TIME=$(FUZZ_TIME) >$(FUZZ_DIR)/TARGET.log 2>&1; \
	   status=$$?; cat $(FUZZ_DIR)/TARGET.log; exit $$status'

# New inputs go to the first directory; a crash leaves its input in artifacts.
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: fuzz-build
	@mkdir -p $(FUZZ_DIR)/corpus/$* $(FUZZ_DIR)/artifacts/$*
	$(FUZZ_TARGET)/$(FUZZ_HOST)/release/$* \
	  -max_total_time=$(FUZZ_TIME) -timeout=10 -rss_limit_mb=512 -verbosity=0 -print_final_stats=1 \
	  -artifact_prefix=$(FUZZ_DIR)/artifacts/$*/ \
	  $(FUZZ_DIR)/corpus/$* fuzz/corpus/$*

# Predictions of `locktrace what-if` beside programs that are really changed; their list is in
# test/jvm/src/what_if/pairs.rs. PAIRS_FLAGS are those of `PAIRS_FLAGS=--help`.

.PHONY: what-if-pairs

what-if-pairs: export LOCKTRACE_BIN = $(CURDIR)/build/bin/locktrace
what-if-pairs: jdk jdk-stock tools ## predictions of what-if beside measurements, ten minutes
	cargo run --quiet --locked --package jvm-tests --example what-if-pairs -- $(PAIRS_FLAGS)

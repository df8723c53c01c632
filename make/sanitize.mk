# The runtime's own tests, and the C program that drives it from many threads
# (rust-tracer/tests/client), under tools that look at each access to memory. The
# sanitizers need a nightly compiler, because stable ones cannot instrument the
# Rust side; valgrind does not. Not part of `make test`: what is not installed is
# said and left out.
#
# helgrind and drd are of no use here: they do not know atomics, and report each
# hand-over of a buffer.

SANITIZE_HOST = $(shell PATH="$(PATH)" rustc -vV | sed -n 's/^host: //p')
SANITIZE_DIR := $(CURDIR)/build/sanitize
SANITIZE_TEST := cargo test --release --locked -p rust-tracer --test client --

.PHONY: sanitize sanitize-thread sanitize-address sanitize-valgrind

sanitize: sanitize-thread sanitize-address sanitize-valgrind ## the runtime's C client under TSan, ASan, valgrind

# The standard library is instrumented, too, or its synchronization would not be
# seen. LLVM gives the functions of memory names of its own, which gcc's runtime
# does not have: it intercepts the plain ones.
sanitize-thread:
	@if ! cargo +nightly --version >/dev/null 2>&1 || \
	    ! ls "$$(rustc +nightly --print sysroot)"/lib/rustlib/src/rust/library >/dev/null 2>&1; then \
	  echo "note: no nightly Rust with rust-src, so ThreadSanitizer is left out"; exit 0; \
	fi; \
	set -ex; \
	RUSTFLAGS=-Zsanitizer=thread cargo +nightly test --locked -p rust-tracer --lib \
	  -Zbuild-std --target $(SANITIZE_HOST) --target-dir $(SANITIZE_DIR)/thread; \
	RUSTFLAGS=-Zsanitizer=thread cargo +nightly build --locked -p rust-tracer --lib \
	  -Zbuild-std --target $(SANITIZE_HOST) --target-dir $(SANITIZE_DIR)/thread; \
	LOCKTRACE_CLIENT_LIBRARY=$(SANITIZE_DIR)/thread/$(SANITIZE_HOST)/debug/librust_tracer.a \
	LOCKTRACE_CLIENT_CFLAGS="-fsanitize=thread -static-libtsan $(patsubst %,-Wl$(comma)--defsym=__tsan_%,memcpy=memcpy memmove=memmove memset=memset)" \
	TSAN_OPTIONS=exitcode=66 $(SANITIZE_TEST)

# The tests leak their runtimes, which live as long as a process; the client's
# leaks are looked for.
sanitize-address:
	@if ! cargo +nightly --version >/dev/null 2>&1; then \
	  echo "note: no nightly Rust, so AddressSanitizer is left out"; exit 0; \
	fi; \
	set -ex; \
	ASAN_OPTIONS=detect_leaks=0 RUSTFLAGS=-Zsanitizer=address cargo +nightly test --locked -p rust-tracer --lib \
	  --target $(SANITIZE_HOST) --target-dir $(SANITIZE_DIR)/address; \
	RUSTFLAGS=-Zsanitizer=address cargo +nightly build --locked -p rust-tracer --lib \
	  --target $(SANITIZE_HOST) --target-dir $(SANITIZE_DIR)/address; \
	LOCKTRACE_CLIENT_LIBRARY=$(SANITIZE_DIR)/address/$(SANITIZE_HOST)/debug/librust_tracer.a \
	LOCKTRACE_CLIENT_CFLAGS=-fsanitize=address $(SANITIZE_TEST)

# Threads run one at a time there, so those of the biggest test are left out.
sanitize-valgrind:
	@if ! command -v valgrind >/dev/null; then \
	  echo "note: valgrind is not installed, so memcheck is left out"; exit 0; \
	fi; \
	set -ex; \
	LOCKTRACE_CLIENT_RUNNER="valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --fair-sched=yes" \
	$(SANITIZE_TEST) --test-threads 1 --skip many_threads_at_once

comma := ,

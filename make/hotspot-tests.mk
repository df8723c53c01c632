# HotSpot put to the test: its own tests with tracing on, and ours with its
# assertions on. Too long for `make test`.

# Modules of test/jvm/tests. What compares with the stock JDK or measures speed is left out.
FASTDEBUG_TESTS := byte_code call_chains class_init clock_oracle code_life conservation control \
  crowds deadlocks embedded endings fastdebug hold_oracle kills monitor_life park_events \
  release_paths shared_classes storms thread_mx_bean threads trace_file wait_kinds \
  wait_notify

.PHONY: test-hotspot test-fastdebug

test-hotspot: jdk jdk-stock tools ## OpenJDK's own tests of locks: stock JDK against traced
	scripts/test-hotspot.sh

test-fastdebug: jdk-fastdebug jdk-stock tools ## the scenarios with HotSpot's assertions, and under stress
	LOCKTRACE_COMPILE_ALL=1 LOCKTRACE_JDK=$(CURDIR)/build/jdk-fastdebug cargo test --release --locked --no-fail-fast \
	  --package jvm-tests --test '*' -- $(FASTDEBUG_TESTS:%=%::) --skip agent_virtual_threads:: --include-ignored

# The oldest update that the hooks are for. No distribution has its source any more, so
# the forest is given: FOREST=DIR|TARBALL, see docs/patching.md.

FOREST =
JDK_8U45 := $(CURDIR)/build/jdk-8u45

# Tests that need the Flight Recorder.
SINCE_8U262 := jfr::

.PHONY: jdk-8u45 test-8u45 forest-is-given

forest-is-given:
	@[ -n "$(FOREST)" ] || { echo "error: say where the forest of jdk8u45-b14 is: FOREST=DIR|TARBALL" >&2; exit 2; }

jdk-8u45: forest-is-given ## build/jdk-8u45 and its stock JDK, of FOREST=DIR|TARBALL
	scripts/build-openjdk.sh --source "$(FOREST)" --image $(JDK_8U45)
	scripts/build-openjdk.sh --source "$(FOREST)" --image $(JDK_8U45)-stock --stock

test-8u45: export LOCKTRACE_JDK := $(JDK_8U45)
test-8u45: export LOCKTRACE_JDK_STOCK := $(JDK_8U45)-stock
test-8u45: jdk-8u45 tools ## demo, scenarios and some stress on 8u45, of FOREST=DIR|TARBALL
	scripts/demo.sh
	LOCKTRACE_COMPILE_ALL=1 cargo test --release --locked --no-fail-fast --package jvm-tests --test '*' -- --skip $(SINCE_8U262)
	scripts/stress-jvm.sh --jdk $(JDK_8U45) --minutes 1

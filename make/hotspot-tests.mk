# Tests that take too long for `make test`: OpenJDK's own, and the scenarios on a
# JVM with HotSpot's assertions.

.PHONY: test-hotspot

test-hotspot: jdk jdk-stock tools ## OpenJDK's own tests of locks: stock JDK against traced
	scripts/test-hotspot.sh

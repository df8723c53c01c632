# The two ways to class files: the distribution's, and compiled here; see docs/design/building.md.

JDK_FULL := $(CURDIR)/build/jdk-full
JDK_FULL_STOCK := $(CURDIR)/build/jdk-full-stock

.PHONY: jdk-full jdk-full-stock test-images

jdk-full: ## build/jdk-full: as build/jdk, but with all classes compiled here
	scripts/build-openjdk.sh --full --image $(JDK_FULL)

jdk-full-stock: ## build/jdk-full-stock: the same without the tracer
	scripts/build-openjdk.sh --full --stock --image $(JDK_FULL_STOCK)

test-images: jdk jdk-full jdk-full-stock tools agent ## build/jdk-full against build/jdk, then the demo and the JVM tests on it
	scripts/compare-images.sh build/jdk $(JDK_FULL)
	LOCKTRACE_JDK=$(JDK_FULL) scripts/demo.sh
	LOCKTRACE_COMPILE_ALL=1 LOCKTRACE_JDK=$(JDK_FULL) LOCKTRACE_JDK_STOCK=$(JDK_FULL_STOCK) \
		cargo test --release --locked --no-fail-fast --package jvm-tests

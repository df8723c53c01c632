# The JDKs: traced, stock to compare with, and with HotSpot's assertions.

CACHE := $(or $(LOCKTRACE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/locktrace)

# The JDKs for the tests and the demo.
export LOCKTRACE_JDK ?= $(CURDIR)/build/jdk
export LOCKTRACE_JDK_STOCK ?= $(CURDIR)/build/jdk-stock

.PHONY: jdk jdk-stock jdk-fastdebug

jdk: ## build/jdk: OpenJDK 8 with lock contention tracing
	scripts/build-openjdk.sh

jdk-stock: ## build/jdk-stock: the same JDK without it
	scripts/build-openjdk.sh --stock

jdk-fastdebug: ## build/jdk-fastdebug: traced, with HotSpot's assertions
	scripts/build-openjdk.sh --debug-level fastdebug

# The agent for stock JVMs, and JVMs to test it on.

# The agent for the tests.
export LOCKTRACE_AGENT ?= $(CURDIR)/build/agent/liblocktrace.so

.PHONY: agent stock-jdks

agent: ## build/agent/liblocktrace.so: traces lock contention of a stock JDK 8 to 25
	scripts/build-agent.sh

stock-jdks: ## build/stock-jdks: runtimes of Java 11, 17, 21 and 25 for the agent's tests
	scripts/install-stock-jdks.sh

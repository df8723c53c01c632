# Hours of stress for the return barriers on stacks, and for the agent; the programs run for seconds
# each in `make test`, too. STRESS_FLAGS are those of scripts/stress-jvm.sh and scripts/stress-agent.sh.

.PHONY: stress stress-agent

stress: jdk jdk-fastdebug jdk-stock tools ## traced JVMs under stress, about three hours
	scripts/stress-jvm.sh $(STRESS_FLAGS)

stress-agent: jdk-stock stock-jdks agent tools ## stock JVMs under the agent and stress, ten minutes each
	scripts/stress-agent.sh $(STRESS_FLAGS)

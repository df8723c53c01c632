# Hours of stress for the return barriers on stacks; its programs run for seconds each in
# `make test`, too. STRESS_FLAGS are those of scripts/stress-jvm.sh.

.PHONY: stress

stress: jdk jdk-fastdebug jdk-stock tools ## traced JVMs under stress, about three hours
	scripts/stress-jvm.sh $(STRESS_FLAGS)

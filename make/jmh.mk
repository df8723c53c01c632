# The JMH suite; `make test` runs its quick setting, `make test-nightly` the short one.

.PHONY: jmh jmh-profiler

jmh: jdk jdk-stock tools ## the JMH suite with many combinations, about ten minutes
	scripts/jmh.sh full

jmh-profiler: jdk-stock ## test/jmh/target/locktrace-jmh.jar, for -prof locktrace
	scripts/jmh.sh build

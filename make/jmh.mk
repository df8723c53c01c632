# The JMH suite; `make test` runs its short setting.

.PHONY: jmh jmh-profiler

jmh: jdk jdk-stock tools ## the JMH suite with many combinations, about ten minutes
	scripts/jmh.sh full

jmh-profiler: jdk-stock ## test/jmh/target/locktrace-jmh.jar, for -prof locktrace
	scripts/jmh.sh build

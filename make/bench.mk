# Costs of tracing on real applications; bench/README.md says more.

.PHONY: bench pack test-pack

bench: jdk jdk-stock ## a short benchmark of all configurations, under 15 minutes
	bench/run --quick

pack: jdk jdk-stock tools agent ## build/locktrace-pack.tar.xz: measures the tracer on another machine
	bench/pack

test-pack: pack ## unpack that archive in a bare root without network, and measure for four minutes there
	scripts/test-pack.sh

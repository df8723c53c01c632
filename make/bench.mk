# Costs of tracing on real applications; bench/README.md says more.

.PHONY: bench

bench: jdk jdk-stock ## a short benchmark of all configurations, under 15 minutes
	bench/run --quick

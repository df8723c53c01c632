# Questions over the tables of many hosts, on a cluster; `make test` asks a few runs, in one process.

.PHONY: test-fleet

test-fleet: jdk jdk-stock tools test-packages ## 200 runs on a Spark cluster of this machine, one worker killed
	scripts/test-fleet.sh

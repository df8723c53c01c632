# What people install.

.PHONY: dist test-dist

dist: jdk tools agent jmx ## build/dist: tarballs and Debian packages of the JDK and the tools
	scripts/dist.sh

test-dist: dist ## install the packages in a bare system, use them, remove them
	scripts/test-dist.sh

# Packages to install.

.PHONY: dist test-dist test-cold

dist: jdk tools agent jmx ## build/dist: tarballs and Debian packages of the JDK and the tools
	scripts/dist.sh

test-dist: dist ## install the packages in a bare system, use them, remove them; build the containers' images
	scripts/test-dist.sh

test-cold: demo ## time `make demo` in a bare system; what it builds must be the same as here
	scripts/test-cold.sh

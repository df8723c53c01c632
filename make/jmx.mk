# The MBean of lock contention, for JConsole, VisualVM and exporters.

.PHONY: jmx

JMX_SOURCES := $(wildcard jmx/src/tools/locktrace/jmx/*.java)

jmx: jdk-stock build/locktrace-jmx.jar ## build/locktrace-jmx.jar: an MBean, as -javaagent

build/locktrace-jmx.jar: $(JMX_SOURCES) jmx/manifest
	rm -rf build/jmx && mkdir -p build/jmx
	$(LOCKTRACE_JDK_STOCK)/bin/javac -Xlint:all -Werror -d build/jmx $(JMX_SOURCES)
	$(LOCKTRACE_JDK_STOCK)/bin/jar cfm $@ jmx/manifest -C build/jmx .

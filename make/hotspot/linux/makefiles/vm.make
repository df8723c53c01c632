# Links the Rust runtime into libjvm.so.
#
# HotSpot's own vm.make includes this file as its "alternate vm.make": HS_ALT_MAKE
# names the folder that lies three levels above, a copy beside which
# scripts/build-openjdk.sh puts the runtime's archive and header. No upstream
# makefile is changed.

LOCKTRACE_RUNTIME = $(HS_ALT_MAKE)/../librust_tracer.a

INCLUDES += -I$(HS_ALT_MAKE)/..

# The linker takes from an archive what the objects before it still miss, so it
# stands after them, and before the system libraries that it needs itself.
LIBS := $(LOCKTRACE_RUNTIME) $(LIBS)

# A new archive, or a change in how it is linked, means a new libjvm.so.
$(LIBJVM): $(LOCKTRACE_RUNTIME) $(HS_ALT_MAKE)/linux/makefiles/vm.make

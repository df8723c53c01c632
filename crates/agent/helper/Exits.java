package java.locktrace;

/**
 * Receives the calls of instrumented code right before it releases a monitor.
 *
 * <p>It does nothing until threads wait for monitors, so compilers remove the call. Then the agent
 * has the class redefined as {@code watching/Exits.java}.
 *
 * <p>The agent defines this class in the boot loader. Every class loader, even of OSGi, asks the
 * boot loader for packages that begin with {@code java.}; and as the package is in no module, no
 * module hides it. {@code Exits.class} in this folder is compiled by JDK 8.
 */
public final class Exits {
    private Exits() {}

    /**
     * Called by the owner of a monitor.
     *
     * @param monitor the object
     * @param site the number of the place in the program
     */
    public static void exit(Object monitor, int site) {}
}

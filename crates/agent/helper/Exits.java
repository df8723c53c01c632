package java.locktrace;

/**
 * What instrumented code calls right before it releases a monitor.
 *
 * <p>Until threads wait for monitors this does nothing, which is also what compilers make of the
 * call. Then the agent has the class defined again, as in {@code watching/Exits.java}.
 *
 * <p>The agent defines this class by the boot loader. Each class loader asks that for packages
 * that begin with {@code java.}, also those of OSGi; and as no module has this one, no module
 * keeps others from it. {@code Exits.class} beside this file is what javac of JDK 8 makes of it.
 */
public final class Exits {
    private Exits() {}

    /**
     * Called by the owner of a monitor.
     *
     * @param monitor the object
     * @param site where in the program this is
     */
    public static void exit(Object monitor, int site) {}
}

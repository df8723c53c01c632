package java.locktrace;

/**
 * What instrumented code calls right before it releases a monitor.
 *
 * <p>The agent defines this class by the boot loader. Each class loader asks that for packages
 * that begin with {@code java.}, also those of OSGi; and as no module has this one, no module
 * keeps others from it, and no warning is printed when its native method is bound. {@code
 * Exits.class} beside this file is what javac of JDK 8 makes of it.
 */
public final class Exits {
    /**
     * All slots in use are below this one; 0 while no thread waits for a monitor.
     *
     * <p>Not volatile, which would keep the compiler from coarsening locks: to acquire a monitor is
     * an acquire barrier, so the owner of a monitor sees what was set before it acquired it.
     */
    private static int slotsInUse;

    /** The objects that threads wait for. They are only ever compared. */
    private static final Object[] CONTENDED = new Object[64];

    private Exits() {}

    /**
     * Called by the owner of a monitor.
     *
     * @param monitor the object
     * @param site where in the program this is
     */
    public static void exit(Object monitor, int site) {
        if (slotsInUse != 0) {
            find(monitor, site);
        }
    }

    private static void find(Object monitor, int site) {
        int slots = slotsInUse;
        for (int slot = 0; slot < slots; slot++) {
            if (CONTENDED[slot] == monitor) {
                released(slot, site);
                return;
            }
        }
    }

    /** Without the object, which must not escape from the code that allocated it. */
    private static native void released(int slot, int site);
}

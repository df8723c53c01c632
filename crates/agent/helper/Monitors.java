package java.locktrace;

/**
 * The monitors that threads wait for.
 *
 * <p>No module has this class, so no warning is printed when its native method is bound.
 */
final class Monitors {
    /**
     * All slots in use are below this one; 0 while no thread waits for a monitor.
     *
     * <p>Not volatile, which would keep the compiler from coarsening locks: to acquire a monitor is
     * an acquire barrier, so the owner of a monitor sees what was set before it acquired it.
     */
    static int slotsInUse;

    /** The objects that threads wait for. They are only ever compared. */
    private static final Object[] CONTENDED = new Object[64];

    private Monitors() {}

    static void find(Object monitor, int site) {
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

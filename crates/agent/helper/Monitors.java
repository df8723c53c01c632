package java.locktrace;

/**
 * The monitors that threads wait for.
 *
 * <p>No module has this class, so no warning is printed when its native method is bound.
 */
final class Monitors {
    /**
     * The bound below which slots are in use; 0 while no thread waits for a monitor.
     *
     * <p>Not volatile, which would keep the compiler from coarsening locks. Acquiring a monitor is
     * an acquire barrier, so its owner sees the values that were set before.
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

    /** Takes no object: it must not escape from the code that allocated it. */
    private static native void released(int slot, int site);
}

package java.locktrace;

import sun.misc.Unsafe;

/**
 * The monitors that threads wait for.
 *
 * <p>No module has this class, so no warning is printed when its native methods are bound. From JDK 9
 * on {@code Unsafe} is in another package: the agent replaces its name.
 */
final class Monitors {
    /**
     * The bound below which slots are in use, and one more than there are slots if objects are in the
     * table; 0 while no thread waits for a monitor.
     *
     * <p>Not volatile, which would keep the compiler from coarsening locks. Acquiring a monitor is
     * an acquire barrier, so its owner sees the values that were set before.
     */
    static int slotsInUse;

    /** The first few objects that threads wait for. They are only ever compared. */
    private static final Object[] CONTENDED = new Object[4];

    /**
     * The others: each in one of {@link #PROBES} places from the one that its identity hash code names.
     */
    private static final Object[] TABLE = new Object[1 << 13];

    private static final int PROBES = 16;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    private Monitors() {}

    static void find(Object monitor, int site) {
        int slots = slotsInUse;
        if (slots > CONTENDED.length) {
            // The lowest bits of an object's header. Only an inflated monitor has threads that wait for
            // it, and an identity hash code that costs nothing.
            if ((UNSAFE.getInt(monitor, 0L) & 3) != 2) {
                return;
            }
            if (isInTable(monitor)) {
                released(monitor, site);
                return;
            }
            slots = CONTENDED.length;
        }
        for (int slot = 0; slot < slots; slot++) {
            if (CONTENDED[slot] == monitor) {
                released(slot, site);
                return;
            }
        }
    }

    private static boolean isInTable(Object monitor) {
        int first = System.identityHashCode(monitor);
        for (int probe = 0; probe < PROBES; probe++) {
            if (TABLE[(first + probe) & (TABLE.length - 1)] == monitor) {
                return true;
            }
        }
        return false;
    }

    /** Takes no object: it must not escape from the code that allocated it. */
    private static native void released(int slot, int site);

    /** The same for an object in the table, which has escaped. */
    private static native void released(Object monitor, int site);
}

package java.locktrace;

import sun.misc.Unsafe;

/**
 * Receives the calls of the JDK's classes that park or unpark a thread, or change the owner of a
 * synchronizer.
 *
 * <p>Defined like {@link Exits}. From JDK 9 on {@code Unsafe} is in another package: the agent
 * replaces its name. {@code Parks.class} in this folder is compiled by JDK 8.
 */
public final class Parks {
    /** Whether a trace is on. */
    static boolean traced;

    /**
     * The bound below which slots are in use; 0 while no thread is parked on a synchronizer.
     *
     * <p>Not volatile: a thread acquires a synchronizer by an atomic instruction, so it sees the
     * values that were set before.
     */
    private static int slotsInUse;

    /** The synchronizers that threads are parked on. They are only ever compared. */
    private static final Object[] PARKED_ON = new Object[64];

    private Parks() {}

    /** Replaces {@code Unsafe.park}. */
    public static void park(Object unsafe, boolean isAbsolute, long time) {
        if (traced) {
            try {
                parks(Thread.currentThread(), isAbsolute, time);
            } catch (StackOverflowError lostEvent) {
                // The thread parks all the same.
            }
        }
        ((Unsafe) unsafe).park(isAbsolute, time);
        if (traced) {
            try {
                parked(Thread.currentThread());
            } catch (StackOverflowError lostEvent) {
                // The thread has parked all the same.
            }
        }
    }

    /** Replaces {@code Unsafe.unpark}. */
    public static void unpark(Object unsafe, Object thread) {
        if (traced) {
            try {
                unparks(Thread.currentThread(), thread);
            } catch (StackOverflowError lostEvent) {
                // The thread is unparked all the same.
            }
        }
        ((Unsafe) unsafe).unpark(thread);
        if (traced) {
            try {
                unparked(Thread.currentThread());
            } catch (StackOverflowError lostEvent) {
                // The thread was unparked all the same.
            }
        }
    }

    /**
     * Called by a thread after it has acquired a synchronizer, and before it releases one.
     *
     * @param thread the new owner, or null
     */
    public static void owner(Object synchronizer, Object thread) {
        if (slotsInUse != 0) {
            find(synchronizer, thread);
        }
    }

    private static void find(Object synchronizer, Object thread) {
        int slots = slotsInUse;
        for (int slot = 0; slot < slots; slot++) {
            if (PARKED_ON[slot] == synchronizer) {
                ownerChanges(Thread.currentThread(), synchronizer, thread, slot);
                return;
            }
        }
    }

    // The current thread is Java's: while a virtual thread works for its scheduler it is the carrier,
    // which the JVM's tool interface hides.

    static native void parks(Thread current, boolean isAbsolute, long time);

    static native void parked(Thread current);

    static native void unparks(Thread current, Object thread);

    static native void unparked(Thread current);

    private static native void ownerChanges(
            Thread current, Object synchronizer, Object thread, int slot);
}

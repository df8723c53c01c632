package java.locktrace;

import sun.misc.Unsafe;

/**
 * What the JDK's classes call to park and to unpark a thread, and when a synchronizer gets another
 * owner.
 *
 * <p>Defined as {@link Exits} is. From JDK 9 on {@code Unsafe} is in another package: the agent
 * replaces its name. {@code Parks.class} beside this file is what javac of JDK 8 makes of it.
 */
public final class Parks {
    /** There is a trace. */
    static boolean traced;

    /**
     * All slots in use are below this one; 0 while no thread is parked on a synchronizer.
     *
     * <p>Not volatile: whoever acquires a synchronizer does so by an atomic instruction, so it sees
     * what was set before.
     */
    private static int slotsInUse;

    /** The synchronizers that threads are parked on. They are only ever compared. */
    private static final Object[] PARKED_ON = new Object[64];

    private Parks() {}

    /** In the place of {@code Unsafe.park}. */
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

    /** In the place of {@code Unsafe.unpark}. */
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
     * Called after a synchronizer was acquired and before it is released, by who does that.
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

    // The thread is that of Java: where a virtual thread works for its scheduler it is the carrier,
    // which the JVM's interface for tools does not say.

    static native void parks(Thread current, boolean isAbsolute, long time);

    static native void parked(Thread current);

    static native void unparks(Thread current, Object thread);

    static native void unparked(Thread current);

    private static native void ownerChanges(
            Thread current, Object synchronizer, Object thread, int slot);
}

package java.locktrace;

import jdk.internal.access.JavaLangAccess;

/**
 * Receives the calls of the JDK's classes that park or unpark a virtual thread.
 *
 * <p>Defined like {@link Exits}, in JVMs that have virtual threads. A thread reports its park before
 * it unmounts and after it is mounted again, which may be on another carrier. {@code
 * VirtualParks.class} in this folder is compiled by JDK 8, with {@code stubs}.
 */
public final class VirtualParks {
    private VirtualParks() {}

    /** Replaces {@code JavaLangAccess.parkVirtualThread()}. */
    public static void park(Object access) {
        if (Parks.traced) {
            try {
                Parks.parks(Thread.currentThread(), false, 0);
            } catch (StackOverflowError lostEvent) {
                // The thread parks all the same.
            }
        }
        ((JavaLangAccess) access).parkVirtualThread();
        if (Parks.traced) {
            try {
                Parks.parked(Thread.currentThread());
            } catch (StackOverflowError lostEvent) {
                // The thread has parked all the same.
            }
        }
    }

    /** Replaces {@code JavaLangAccess.parkVirtualThread(long)}. */
    public static void park(Object access, long nanos) {
        if (Parks.traced) {
            try {
                Parks.parks(Thread.currentThread(), false, nanos);
            } catch (StackOverflowError lostEvent) {
                // The thread parks all the same.
            }
        }
        ((JavaLangAccess) access).parkVirtualThread(nanos);
        if (Parks.traced) {
            try {
                Parks.parked(Thread.currentThread());
            } catch (StackOverflowError lostEvent) {
                // The thread has parked all the same.
            }
        }
    }

    /** Replaces {@code JavaLangAccess.unparkVirtualThread(Thread)}. */
    public static void unpark(Object access, Object thread) {
        if (Parks.traced) {
            try {
                Parks.unparks(Thread.currentThread(), thread);
            } catch (StackOverflowError lostEvent) {
                // The thread is unparked all the same.
            }
        }
        ((JavaLangAccess) access).unparkVirtualThread((Thread) thread);
        if (Parks.traced) {
            try {
                Parks.unparked(Thread.currentThread());
            } catch (StackOverflowError lostEvent) {
                // The thread was unparked all the same.
            }
        }
    }
}

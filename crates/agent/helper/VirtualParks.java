package java.locktrace;

import jdk.internal.access.JavaLangAccess;

/**
 * What the JDK's classes call to park and to unpark a virtual thread.
 *
 * <p>Defined as {@link Exits} is, in JVMs that have virtual threads. A thread tells of its park
 * before it unmounts and when it is mounted again, so it may be on another carrier then. {@code
 * VirtualParks.class} beside this file is what javac of JDK 8 makes of it and of {@code stubs}.
 */
public final class VirtualParks {
    private VirtualParks() {}

    /** In the place of {@code JavaLangAccess.parkVirtualThread()}. */
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

    /** In the place of {@code JavaLangAccess.parkVirtualThread(long)}. */
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

    /** In the place of {@code JavaLangAccess.unparkVirtualThread(Thread)}. */
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

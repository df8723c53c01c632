package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/**
 * The methods of the threads of {@code launcher/launcher.c}, a program that creates the JVM itself.
 * The threads' stacks have no main method, and no Java code below these methods.
 *
 * <p>The trace must be complete, and show one wait for {@link #LOCK}, of "native-waiter" in
 * {@link #want}, blocked by "native-owner" in {@link #own}. The daemons block
 * each other in {@link #contend} until the JVM is destroyed under them.
 */
public final class Embedded {
    private static final int TIMES_BLOCKED = 5;

    private static final Lock LOCK = new Lock();
    private static final CountDownLatch WAITER_READY = new CountDownLatch(1);
    private static final CountDownLatch OWNER_ENTERED = new CountDownLatch(1);

    private static volatile Thread waiter;
    private static long acquired;

    private Embedded() {}

    private static final class Lock {}

    static void own() throws InterruptedException {
        WAITER_READY.await();
        synchronized (LOCK) {
            OWNER_ENTERED.countDown();
            new Held(waiter).run();
        } // @leave
    }

    static void want() throws InterruptedException {
        waiter = Thread.currentThread();
        WAITER_READY.countDown();
        OWNER_ENTERED.await();
        synchronized (LOCK) { // @wanted
            acquired++;
        }
    }

    static void contend() {
        while (true) {
            hold();
        }
    }

    /** Returns once the daemons have blocked each other a few times. */
    static void awaitContention() throws InterruptedException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        while (timesBlocked(threads) < TIMES_BLOCKED) {
            Thread.sleep(1);
        }
    }

    private static long timesBlocked(ThreadMXBean threads) {
        long times = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("native-daemon-")) {
                times += thread.getBlockedCount();
            }
        }
        return times;
    }

    private static synchronized void hold() {
        Held.nanos(100_000);
    }
}

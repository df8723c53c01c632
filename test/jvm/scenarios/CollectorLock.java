package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * A thread that has the JVM collect garbage holds the lock of the list of pending references
 * meanwhile, on which {@code java.lang.ref.Reference} waits. Threads that call {@code System.gc} at
 * the same time block each other on it. They go on until one was blocked: on a busy machine it may
 * be long before they meet.
 *
 * <p>The trace must show as many waits of each thread, "caller-0" to
 * "caller-2", for that lock as {@code ThreadMXBean} counts, printed as
 * {@code blocked THREAD COUNT}, and the callers as each other's owners.
 */
public final class CollectorLock {
    private static final int CALLERS = 3;
    private static final int CALLS = 40;
    private static final int MOST_CALLS = 2_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** By the last one to come to the barrier. */
    private static int calls;
    private static volatile boolean enough;

    private CollectorLock() {}

    public static void main(String[] args) throws InterruptedException {
        // Threads that initialize a class together would wait for each other, and
        // be counted.
        countBlocked(Thread.currentThread());
        Caller[] callers = new Caller[CALLERS];
        CyclicBarrier together = new CyclicBarrier(CALLERS, () -> decide(callers));
        for (int i = 0; i < CALLERS; i++) {
            callers[i] = new Caller(i, together);
            callers[i].start();
        }
        for (Caller caller : callers) {
            caller.join();
            System.out.println("blocked " + caller.getName() + " " + caller.blocked);
        }
    }

    private static long countBlocked(Thread thread) {
        return THREADS.getThreadInfo(thread.getId()).getBlockedCount();
    }

    private static void decide(Caller[] callers) {
        calls++;
        boolean met = false;
        for (Caller caller : callers) {
            met |= countBlocked(caller) > caller.before;
        }
        enough = calls > MOST_CALLS || (calls > CALLS && met);
    }

    private static final class Caller extends Thread {
        private final CyclicBarrier together;
        private volatile long before;
        private long blocked;

        Caller(int number, CyclicBarrier together) {
            super("caller-" + number);
            this.together = together;
        }

        @Override
        public void run() {
            // Has the class looked up, for which threads wait for each other, too.
            System.nanoTime();
            awaitOthers();
            before = countBlocked(this);
            awaitOthers();
            while (!enough) {
                System.gc(); // @gc
                awaitOthers();
            }
            blocked = countBlocked(this) - before;
        }

        /** Parks, which does not count as blocked. */
        private void awaitOthers() {
            try {
                together.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        }
    }
}

package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Whoever has the JVM collect garbage holds the lock of the list of pending
 * references meanwhile, on which {@code java.lang.ref.Reference} waits. Threads
 * that all call {@code System.gc} block each other on it.
 *
 * <p>The trace must show as many waits of each thread, "caller-0" to
 * "caller-2", for that lock as {@code ThreadMXBean} counts, printed as
 * {@code blocked THREAD COUNT}, and the callers as each other's owners.
 */
public final class CollectorLock {
    private static final int CALLERS = 3;
    private static final int CALLS = 40;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private CollectorLock() {}

    public static void main(String[] args) throws InterruptedException {
        // Threads that initialize a class together would wait for each other, and
        // be counted.
        countBlocked(Thread.currentThread());
        Caller[] callers = new Caller[CALLERS];
        for (int i = 0; i < CALLERS; i++) {
            callers[i] = new Caller(i);
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

    private static final class Caller extends Thread {
        private long blocked;

        Caller(int number) {
            super("caller-" + number);
        }

        @Override
        public void run() {
            // Has the class looked up, for which threads wait for each other, too.
            System.nanoTime();
            long before = countBlocked(this);
            for (int call = 0; call < CALLS; call++) {
                System.gc(); // @gc
            }
            blocked = countBlocked(this) - before;
        }
    }
}

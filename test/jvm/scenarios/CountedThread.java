package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A thread of which the JVM's own {@link ThreadMXBean} counts how often it is
 * blocked, and for how long.
 */
abstract class CountedThread extends Thread {
    private final CountDownLatch finished = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private int notifiedCount;
    private long minNotifiedNanos;
    private long maxNotifiedNanos;

    CountedThread(String name) {
        super(name);
    }

    /** The work that the JVM shall count. */
    abstract void work() throws InterruptedException;

    /**
     * The thread was notified, and has the lock again after so long at least, and so long at
     * most. It may lose its processor between what happens and its reading of the clock.
     */
    final void wasNotified(long minNanos, long maxNanos) {
        notifiedCount++;
        minNotifiedNanos += minNanos;
        maxNotifiedNanos += maxNanos;
    }

    @Override
    public final void run() {
        try {
            work();
            finished.countDown();
            mayEnd.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Runs threads, and prints one JSON object for each: {@code {"thread": NAME,
     * "blocked_count": N, "blocked_ms": N, "notified_count": N, "min_notified_ns": N,
     * "max_notified_ns": N}}. The first two numbers are those of the JVM, the others of the
     * thread.
     */
    static void runAll(CountedThread... threads) throws InterruptedException {
        Held.nanos(1); // a class that is still being initialized would make the first threads wait, too
        ThreadMXBean statistics = ManagementFactory.getThreadMXBean();
        statistics.setThreadContentionMonitoringEnabled(true);
        for (CountedThread thread : threads) {
            thread.start();
        }
        for (CountedThread thread : threads) {
            thread.finished.await();
        }
        for (CountedThread thread : threads) {
            ThreadInfo info = statistics.getThreadInfo(thread.getId());
            System.out.printf("{\"thread\": \"%s\", \"blocked_count\": %d, \"blocked_ms\": %d, "
                            + "\"notified_count\": %d, \"min_notified_ns\": %d, \"max_notified_ns\": %d}%n",
                    info.getThreadName(), info.getBlockedCount(), info.getBlockedTime(),
                    thread.notifiedCount, thread.minNotifiedNanos, thread.maxNotifiedNanos);
        }
        // One thread ends at a time, and nobody joins it: both could block it once more, too late to be counted.
        for (CountedThread thread : threads) {
            thread.mayEnd.countDown();
            while (thread.isAlive()) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }
}

package scenarios;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Six threads block each other many times, for short and for long, while the
 * JVM's own {@link ThreadMXBean} counts and times it.
 *
 * <p>Prints one JSON object a thread:
 * {@code {"thread": NAME, "blocked_count": N, "blocked_ms": N}}.
 *
 * <p>The trace must show as many waits of each thread, and the same time. No
 * thread calls {@code wait}: the JVM would count its return among the blocks.
 */
public final class BlockedTimes {
    private static final int THREADS = 6;
    private static final int TURNS = 150;

    private final Object lock = new Object();
    private final CountDownLatch finished = new CountDownLatch(THREADS);

    private BlockedTimes() {}

    public static void main(String[] args) throws InterruptedException {
        new BlockedTimes().run();
    }

    private void run() throws InterruptedException {
        Held.nanos(1); // a class that is still being initialized would make the first threads wait, too
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        threads.setThreadContentionMonitoringEnabled(true);

        Worker[] workers = new Worker[THREADS];
        Arrays.setAll(workers, Worker::new);
        for (Worker worker : workers) {
            worker.start();
        }
        finished.await();
        for (Worker worker : workers) {
            ThreadInfo info = threads.getThreadInfo(worker.getId());
            System.out.printf("{\"thread\": \"%s\", \"blocked_count\": %d, \"blocked_ms\": %d}%n",
                    info.getThreadName(), info.getBlockedCount(), info.getBlockedTime());
        }
        // One thread ends at a time, and nobody joins it: both could block it once more, too late to be counted.
        for (Worker worker : workers) {
            worker.mayEnd.countDown();
            while (worker.isAlive()) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }

    private final class Worker extends Thread {
        private final int number;
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        Worker(int number) {
            super("worker-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            for (int turn = 0; turn < TURNS; turn++) {
                synchronized (lock) {
                    Held.nanos(holdNanos(turn));
                }
                if (turn % 3 == 0) {
                    Held.nanos(200_000);
                }
            }
            finished.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        /** From 0.1 to 6.5 milliseconds. */
        private long holdNanos(int turn) {
            return 100_000L << ((number + turn) % 7);
        }
    }
}

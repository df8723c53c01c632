package scenarios;

import java.util.Arrays;

/**
 * Six threads block each other many times, for short and for long, while the
 * JVM counts and times it; {@link CountedThread} prints that.
 *
 * <p>The trace must show as many waits of each thread, and the same time. No
 * thread calls {@code wait}, which {@link NotifiedTimes} is about.
 */
public final class BlockedTimes {
    private static final int THREADS = 6;
    private static final int TURNS = 150;

    private final Object lock = new Object();

    private BlockedTimes() {}

    public static void main(String[] args) throws InterruptedException {
        Worker[] workers = new Worker[THREADS];
        Arrays.setAll(workers, new BlockedTimes()::worker);
        CountedThread.runAll(workers);
    }

    private Worker worker(int number) {
        return new Worker(number);
    }

    private final class Worker extends CountedThread {
        private final int number;

        Worker(int number) {
            super("worker-" + number);
            this.number = number;
        }

        @Override
        void work() {
            for (int turn = 0; turn < TURNS; turn++) {
                synchronized (lock) {
                    Held.nanos(holdNanos(turn));
                }
                if (turn % 3 == 0) {
                    Held.nanos(200_000);
                }
            }
        }

        /** From 0.1 to 6.5 milliseconds. */
        private long holdNanos(int turn) {
            return 100_000L << ((number + turn) % 7);
        }
    }
}

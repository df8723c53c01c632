package scenarios;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Eight threads share a {@link ReentrantReadWriteLock} as readers, or have it as
 * writers, for 0.2 to 2 milliseconds, in methods of different names.
 *
 * <p>The only argument says whether the lock is {@code fair} or {@code nonfair}.
 * Prints, besides what {@link TraceClock} does, {@code hold THREAD METHOD WANTED_NS
 * ACQUIRED_NS RELEASED_NS LEFT_NS} for each time that a thread had the lock. The
 * methods of readers begin with "read".
 */
public final class ReadWriteHolds {
    private static final int WORKERS = 8;
    private static final int TURNS = 160;
    private static final long BRIEF_NANOS = 200_000;
    private static final long LONG_NANOS = 2_000_000;

    private final Lock readLock;
    private final Lock writeLock;

    private ReadWriteHolds(boolean fair) {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock(fair);
        readLock = lock.readLock();
        writeLock = lock.writeLock();
    }

    public static void main(String[] args) throws InterruptedException {
        TraceClock.print();
        new ReadWriteHolds(args[0].equals("fair")).run();
    }

    private void run() throws InterruptedException {
        Worker[] workers = new Worker[WORKERS];
        Arrays.setAll(workers, Worker::new);
        for (Worker worker : workers) {
            worker.start();
        }
        for (Worker worker : workers) {
            worker.join();
            worker.notes.forEach(System.out::println);
        }
    }

    private final class Worker extends Thread {
        private final int number;
        private final List<String> notes = new ArrayList<>(TURNS);
        private long wanted;

        Worker(int number) {
            super("worker-" + number);
            this.number = number;
        }

        @Override
        public void run() {
            try {
                for (int turn = 0; turn < TURNS; turn++) {
                    take((number + turn) % 8);
                    if (turn % 4 > 0) {
                        TimeUnit.MILLISECONDS.sleep(1);
                    }
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private void take(int method) {
            switch (method) {
                case 0:
                case 4:
                    writeBriefly();
                    break;
                case 1:
                    writeLong();
                    break;
                case 2:
                case 5:
                    readLong();
                    break;
                default:
                    readBriefly();
                    break;
            }
        }

        private void readBriefly() {
            want();
            readLock.lock();
            String hold = hold("readBriefly", BRIEF_NANOS);
            readLock.unlock();
            leave(hold);
        }

        private void readLong() {
            want();
            readLock.lock();
            String hold = hold("readLong", LONG_NANOS);
            readLock.unlock();
            leave(hold);
        }

        private void writeBriefly() {
            want();
            writeLock.lock();
            String hold = hold("writeBriefly", BRIEF_NANOS);
            writeLock.unlock();
            leave(hold);
        }

        private void writeLong() {
            want();
            writeLock.lock();
            String hold = hold("writeLong", LONG_NANOS);
            writeLock.unlock();
            leave(hold);
        }

        private void want() {
            wanted = System.nanoTime();
        }

        /** Has the lock for some time, and is about to release it. */
        private String hold(String method, long nanos) {
            long acquired = System.nanoTime();
            long released = acquired;
            while (released - acquired < nanos) {
                released = System.nanoTime();
            }
            return "hold " + getName() + " " + method + " " + wanted + " " + acquired + " " + released;
        }

        /** Does not have the lock any more. */
        private void leave(String hold) {
            notes.add(hold + " " + System.nanoTime());
        }
    }
}

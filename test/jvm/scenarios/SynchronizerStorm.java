package scenarios;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Eight threads acquire locks of {@code java.util.concurrent} in every way, as fast
 * as they can; they give up after microseconds, and are interrupted all the time.
 *
 * <p>Prints {@code counted N EXPECTED}: how often the threads had a lock for
 * themselves, counted without other protection, and the sum of what each counted.
 * The program must end, traced or not: nobody may wait for a lock that is free.
 */
public final class SynchronizerStorm {
    private static final int RACERS = 8;
    private static final int TURNS = 5_000;

    private final ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock(true)};
    private final Condition[] conditions = {locks[0].newCondition(), locks[1].newCondition()};
    private final ReentrantReadWriteLock readWriteLock = new ReentrantReadWriteLock();
    private final Semaphore semaphore = new Semaphore(1);
    private final long[] counts = new long[4]; // each guarded by a lock of its own
    private final Racer[] racers = new Racer[RACERS];

    private SynchronizerStorm() {
        Arrays.setAll(racers, Racer::new);
    }

    public static void main(String[] args) throws InterruptedException {
        new SynchronizerStorm().run();
    }

    private void run() throws InterruptedException {
        for (Racer racer : racers) {
            racer.start();
        }
        int victim = 0;
        while (Arrays.stream(racers).anyMatch(Thread::isAlive)) {
            TimeUnit.MICROSECONDS.sleep(100);
            racers[victim++ % RACERS].interrupt();
        }
        long expected = Arrays.stream(racers).mapToLong(racer -> racer.count).sum();
        System.out.println("counted " + Arrays.stream(counts).sum() + " " + expected);
    }

    private final class Racer extends Thread {
        private final Random random;
        private long count;

        Racer(int number) {
            super("racer-" + number);
            this.random = new Random(number);
        }

        @Override
        public void run() {
            for (int turn = 0; turn < TURNS; turn++) {
                try {
                    switch (random.nextInt(8)) {
                        case 0:
                            useSemaphore();
                            break;
                        case 1:
                            write();
                            break;
                        case 2:
                            read();
                            break;
                        default:
                            useLock(random.nextInt(2));
                            break;
                    }
                } catch (InterruptedException expected) {
                    // Next turn.
                }
            }
        }

        private void useLock(int number) throws InterruptedException {
            ReentrantLock lock = locks[number];
            switch (random.nextInt(4)) {
                case 0:
                    if (!lock.tryLock(random.nextInt(100), TimeUnit.MICROSECONDS)) {
                        return;
                    }
                    break;
                case 1:
                    lock.lockInterruptibly();
                    break;
                default:
                    lock.lock();
                    break;
            }
            try {
                count(number);
                if (random.nextInt(8) == 0) {
                    conditions[number].await(random.nextInt(100), TimeUnit.MICROSECONDS);
                    count(number);
                } else if (random.nextInt(8) == 0) {
                    conditions[number].signalAll();
                }
            } finally {
                lock.unlock();
            }
        }

        private void useSemaphore() throws InterruptedException {
            if (random.nextBoolean()) {
                semaphore.acquire();
            } else if (!semaphore.tryAcquire(random.nextInt(100), TimeUnit.MICROSECONDS)) {
                return;
            }
            count(2);
            semaphore.release();
        }

        private void write() throws InterruptedException {
            if (random.nextBoolean()) {
                readWriteLock.writeLock().lockInterruptibly();
            } else if (!readWriteLock.writeLock().tryLock(random.nextInt(100), TimeUnit.MICROSECONDS)) {
                return;
            }
            count(3);
            readWriteLock.writeLock().unlock();
        }

        private void read() throws InterruptedException {
            if (random.nextBoolean()) {
                readWriteLock.readLock().lock();
            } else if (!readWriteLock.readLock().tryLock(random.nextInt(100), TimeUnit.MICROSECONDS)) {
                return;
            }
            readWriteLock.readLock().unlock();
        }

        /** The thread has the lock of that number. */
        private void count(int number) {
            counts[number]++;
            count++;
            for (int i = 2 * random.nextInt(100); i > 0; i--) {
                counts[number] += i % 2 * 2 - 1; // there and back again
            }
        }
    }
}

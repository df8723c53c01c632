package scenarios;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that acquire locks in short rounds, give up, are interrupted, and wait for
 * conditions. A wake-up that is lost shows as a round that does not end: only few
 * releases are left by then that could make up for it.
 *
 * <p>Arguments: seconds, threads, seed.
 */
public final class QueueRounds {
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int TURNS = 4;

    private final Lock[] locks;
    private final Condition[] conditions;
    /** Guarded by the lock of the same index. */
    private final long[] acquired;

    /** Guarded by this object's monitor. */
    private int round;
    private int unfinished;

    private QueueRounds() {
        ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
        locks =
                new Lock[] {
                    new ReentrantLock(), new ReentrantLock(true), readWrite.writeLock(), readWrite.readLock()
                };
        conditions =
                new Condition[] {
                    locks[0].newCondition(), locks[1].newCondition(), locks[2].newCondition(), null
                };
        acquired = new long[locks.length];
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[0]));
        int threads = Integer.parseInt(arguments[1]);
        long seed = Long.parseLong(arguments[2]);
        new QueueRounds().run(end, threads, seed);
    }

    private void run(long end, int count, long seed) throws InterruptedException {
        Worker[] workers = new Worker[count];
        for (int number = 0; number < count; number++) {
            workers[number] = new Worker(number, seed + number);
            workers[number].setDaemon(true);
            workers[number].start();
        }
        Random random = new Random(seed);
        int rounds = 0;
        for (; System.nanoTime() < end; rounds++) {
            begin(count);
            for (int interrupts = random.nextInt(4); interrupts > 0; interrupts--) {
                workers[random.nextInt(count)].interrupt();
            }
            if (!awaitEnd()) {
                for (Worker worker : workers) {
                    System.out.println(worker.getName());
                    for (StackTraceElement frame : worker.getStackTrace()) {
                        System.out.println("  at " + frame);
                    }
                }
                System.out.println("stuck in round " + rounds);
                System.exit(3);
            }
        }
        long[] expected = new long[locks.length];
        for (Worker worker : workers) {
            for (int lock = 0; lock < expected.length; lock++) {
                expected[lock] += worker.acquired[lock];
            }
        }
        // The last one is shared, so its counter is not exact.
        for (int lock = 0; lock < expected.length - 1; lock++) {
            if (expected[lock] != acquired[lock]) {
                System.out.println("lock " + lock + ": " + expected[lock] + " turns, " + acquired[lock] + " counted");
                System.exit(4);
            }
        }
        System.out.println("rounds " + rounds);
    }

    private synchronized void begin(int workers) {
        round++;
        unfinished = workers;
        notifyAll();
    }

    private synchronized boolean awaitEnd() throws InterruptedException {
        long start = System.nanoTime();
        while (unfinished > 0) {
            if (System.nanoTime() - start > STUCK_NS) {
                return false;
            }
            wait(1000);
        }
        return true;
    }

    private final class Worker extends Thread {
        private final Random random;
        private final long[] acquired = new long[locks.length];

        Worker(int number, long seed) {
            super("worker-" + number);
            random = new Random(seed);
        }

        @Override
        public void run() {
            for (int done = 0; ; done++) {
                awaitRound(done + 1);
                for (int turn = 0; turn < TURNS; turn++) {
                    turn(random.nextInt(locks.length));
                }
                synchronized (QueueRounds.this) {
                    unfinished--;
                    QueueRounds.this.notifyAll();
                }
            }
        }

        private void awaitRound(int next) {
            synchronized (QueueRounds.this) {
                while (round < next) {
                    try {
                        QueueRounds.this.wait();
                    } catch (InterruptedException e) {
                        // It was meant for the last round.
                    }
                }
            }
        }

        private void turn(int lock) {
            if (!acquire(locks[lock])) {
                return;
            }
            try {
                QueueRounds.this.acquired[lock]++;
                acquired[lock]++;
                if (conditions[lock] != null && random.nextInt(4) == 0) {
                    useCondition(conditions[lock]);
                }
                spin(random.nextInt(20_000));
            } finally {
                locks[lock].unlock();
            }
            spin(random.nextInt(5_000));
        }

        /** Half of the time limits are about as long as the others have the lock. */
        private boolean acquire(Lock lock) {
            try {
                switch (random.nextInt(4)) {
                    case 0:
                        return lock.tryLock(random.nextInt(60_000), TimeUnit.NANOSECONDS);
                    case 1:
                        return lock.tryLock(random.nextInt(2_000), TimeUnit.MICROSECONDS);
                    case 2:
                        lock.lockInterruptibly();
                        return true;
                    default:
                        lock.lock();
                        return true;
                }
            } catch (InterruptedException e) {
                return false;
            }
        }

        private void useCondition(Condition condition) {
            condition.signal();
            try {
                condition.awaitNanos(random.nextInt(100_000));
            } catch (InterruptedException e) {
                // Goes on with the lock.
            }
        }

        private void spin(long nanoseconds) {
            long start = System.nanoTime();
            while (System.nanoTime() - start < nanoseconds) {
                // Has the lock, or thinks.
            }
        }
    }
}

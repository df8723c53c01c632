package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * For each of the numbers given a program that it chooses: some threads use some locks of some
 * kinds, from methods at some depth, for some time.
 *
 * <p>Prints {@code done NUMBER} at the end of each. Before the next one the program's input must
 * have a line.
 */
public final class RandomContention {
    private static final int MAX_THREADS = 8;
    private static final int MAX_LOCKS = 6;
    private static final int MAX_TURNS = 300;

    private final List<Guard> guards = new ArrayList<>();
    private final Random random;

    private RandomContention(long seed) {
        random = new Random(seed);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < args.length; i++) {
            if (i > 0) {
                System.in.read();
            }
            new RandomContention(Long.parseLong(args[i])).run();
            System.out.println("done " + args[i]);
        }
    }

    private void run() throws InterruptedException {
        int locks = 1 + random.nextInt(MAX_LOCKS);
        for (int i = 0; i < locks; i++) {
            guards.add(newGuard(random.nextInt(5)));
        }
        List<Thread> threads = new ArrayList<>();
        int count = 2 + random.nextInt(MAX_THREADS - 1);
        for (int i = 0; i < count; i++) {
            long seed = random.nextLong();
            int turns = 1 + random.nextInt(MAX_TURNS);
            // Some have the same name.
            String name = "worker-" + random.nextInt(MAX_THREADS);
            threads.add(new Thread(() -> work(new Random(seed), turns), name));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void work(Random random, int turns) {
        for (int i = 0; i < turns; i++) {
            descend(random, random.nextInt(4));
        }
    }

    private void descend(Random random, int depth) {
        if (depth > 0) {
            descend(random, depth - 1);
            return;
        }
        Guard guard = guards.get(random.nextInt(guards.size()));
        int work = random.nextInt(1 << 12);
        if (random.nextBoolean()) {
            useLeft(guard, work);
        } else {
            useRight(guard, work);
        }
    }

    private static void useLeft(Guard guard, int work) {
        guard.use(work);
    }

    private static void useRight(Guard guard, int work) {
        guard.use(work);
    }

    private static Guard newGuard(int kind) {
        switch (kind) {
            case 0:
                return new Monitor();
            case 1:
                return new Notified();
            case 2:
                return new Locked(new ReentrantLock());
            case 3:
                return new Locked(new ReentrantReadWriteLock(true).writeLock());
            default:
                return new Permits();
        }
    }

    private abstract static class Guard {
        private int state = 1;

        abstract void use(int work);

        void compute(int work) {
            for (int i = 0; i < work; i++) {
                state = state * 31 + i;
            }
        }
    }

    private static final class Monitor extends Guard {
        @Override
        synchronized void use(int work) {
            compute(work);
        }
    }

    private static final class Notified extends Guard {
        @Override
        synchronized void use(int work) {
            compute(work);
            notifyAll();
            try {
                wait(0, 1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class Locked extends Guard {
        private final Lock lock;
        private final Condition condition;

        Locked(Lock lock) {
            this.lock = lock;
            condition = lock.newCondition();
        }

        @Override
        void use(int work) {
            lock.lock();
            try {
                compute(work);
                condition.signal();
                if (work % 8 == 0) {
                    condition.awaitNanos(100_000);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                lock.unlock();
            }
        }
    }

    private static final class Permits extends Guard {
        private final Semaphore permits = new Semaphore(2);

        @Override
        void use(int work) {
            permits.acquireUninterruptibly();
            try {
                compute(work);
            } finally {
                permits.release();
            }
        }
    }
}

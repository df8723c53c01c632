package scenarios;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Threads take one lock again and again, hold it for a random time and pause for
 * another one, and note each hold. Other threads may keep the processors busy
 * meanwhile.
 *
 * <p>Arguments: the lock ({@code monitor}, {@code nonfair}, {@code fair}, {@code write},
 * {@code stamped} or {@code mutex}), threads, shortest and longest hold, longest pause
 * (all in nanoseconds), duration in milliseconds, threads that keep the
 * processors busy. {@link WorkerThread} chooses the kind of the worker threads.
 *
 * <p>Prints, besides what {@link TraceClock} does, {@code holds THREAD METHOD WANTED_NS
 * ACQUIRED_NS RELEASED_NS LEFT_NS ...} with many holds a line, by {@link System#nanoTime}:
 * read just before the thread asked for the lock, just after it had it, just before it
 * gave it back, and just after that.
 */
public final class HoldsOfLocks {
    private static final int HOLDS_PER_LINE = 250;
    private static final int TIMES = 4;
    /** From here on a thread sleeps instead of looking at the clock. */
    private static final long SLEEP_NANOS = 200_000;

    private static final Object monitor = new Shared();
    private static Lock lock;

    private static long shortestHold;
    private static long longestHold;
    private static long longestPause;
    private static volatile long end;

    private HoldsOfLocks() {}

    private static final class Shared {}

    private static Lock create(String kind) {
        switch (kind) {
            case "nonfair":
                return new ReentrantLock(false);
            case "fair":
                return new ReentrantLock(true);
            case "write":
                return new ReentrantReadWriteLock().writeLock();
            case "stamped":
                return new StampedLock().asWriteLock();
            case "mutex":
                return new Mutex();
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        boolean isMonitor = args[0].equals("monitor");
        lock = isMonitor ? null : create(args[0]);
        shortestHold = Long.parseLong(args[2]);
        longestHold = Long.parseLong(args[3]);
        longestPause = Long.parseLong(args[4]);
        TraceClock.print();
        end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[5]));
        for (int hog = 0; hog < Integer.parseInt(args[6]); hog++) {
            new Thread(() -> spendUntil(end), "hog-" + hog).start();
        }
        Worker[] workers = new Worker[Integer.parseInt(args[1])];
        Arrays.setAll(workers, isMonitor ? OfMonitor::new : OfLock::new);
        Thread[] threads = new Thread[workers.length];
        Arrays.setAll(threads, number -> WorkerThread.start(workers[number].name, workers[number]));
        for (int number = 0; number < workers.length; number++) {
            threads[number].join();
            Worker worker = workers[number];
            worker.first.print(worker.name, "first");
            worker.second.print(worker.name, "second");
        }
    }

    private static void spendUntil(long until) {
        while (System.nanoTime() < until) {}
    }

    private static void pause(long nanos) {
        if (nanos < SLEEP_NANOS) {
            spendUntil(System.nanoTime() + nanos);
            return;
        }
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private abstract static class Worker implements Runnable {
        final String name;
        final Log first = new Log();
        final Log second = new Log();

        Worker(int number) {
            name = "worker-" + number;
        }

        @Override
        public void run() {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            while (System.nanoTime() < end) {
                long nanos = random.nextLong(shortestHold, longestHold + 1);
                if (random.nextInt(4) > 0) {
                    first(nanos);
                } else {
                    second(nanos);
                }
                pause(random.nextLong(longestPause + 1));
            }
        }

        abstract void first(long nanos);

        abstract void second(long nanos);
    }

    private static final class OfMonitor extends Worker {
        OfMonitor(int number) {
            super(number);
        }

        @Override
        void first(long nanos) {
            first.want();
            synchronized (monitor) {
                first.hold(nanos);
            }
            first.leave();
        }

        @Override
        void second(long nanos) {
            second.want();
            synchronized (monitor) {
                second.hold(nanos);
            }
            second.leave();
        }
    }

    private static final class OfLock extends Worker {
        OfLock(int number) {
            super(number);
        }

        @Override
        void first(long nanos) {
            first.want();
            lock.lock();
            first.hold(nanos);
            lock.unlock();
            first.leave();
        }

        @Override
        void second(long nanos) {
            second.want();
            lock.lock();
            second.hold(nanos);
            lock.unlock();
            second.leave();
        }
    }

    /** A program's own lock. As most of them, it says who owns it. */
    private static final class Mutex implements Lock {
        private final Sync sync = new Sync();

        @Override
        public void lock() {
            sync.acquire(1);
        }

        @Override
        public void unlock() {
            sync.release(1);
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            sync.acquireInterruptibly(1);
        }

        @Override
        public boolean tryLock() {
            return sync.tryAcquire(1);
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return sync.tryAcquireNanos(1, unit.toNanos(time));
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException();
        }

        private static final class Sync extends AbstractQueuedSynchronizer {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean tryAcquire(int ignored) {
                if (!compareAndSetState(0, 1)) {
                    return false;
                }
                setExclusiveOwnerThread(Thread.currentThread());
                return true;
            }

            @Override
            protected boolean tryRelease(int ignored) {
                setExclusiveOwnerThread(null);
                setState(0);
                return true;
            }

            @Override
            protected boolean isHeldExclusively() {
                return getExclusiveOwnerThread() == Thread.currentThread();
            }
        }
    }

    /** Times of one thread, read by others after it has ended. */
    private static final class Log {
        private long[] times = new long[1 << 16];
        private int length;

        void want() {
            if (length == times.length) {
                times = Arrays.copyOf(times, 2 * length);
            }
            times[length] = System.nanoTime();
        }

        void hold(long nanos) {
            long acquired = System.nanoTime();
            times[length + 1] = acquired;
            long now;
            do {
                now = System.nanoTime();
            } while (now - acquired < nanos);
            times[length + 2] = now;
        }

        void leave() {
            times[length + 3] = System.nanoTime();
            length += TIMES;
        }

        void print(String thread, String method) {
            for (int from = 0; from < length; from += TIMES * HOLDS_PER_LINE) {
                StringBuilder line = new StringBuilder("holds " + thread + " " + method);
                for (int at = from; at < Math.min(from + TIMES * HOLDS_PER_LINE, length); at++) {
                    line.append(' ').append(times[at]);
                }
                System.out.println(line);
            }
        }
    }
}

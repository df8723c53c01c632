package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Programs before and after one lock of theirs is changed: what that does to the waiting for
 * locks is what was to be predicted from a trace of the first one.
 *
 * <p>Arguments: the program, {@code before} or {@code after}, how many threads, how many turns each
 * takes, and {@code sleep} or {@code compute}: what threads do holds up nobody but for locks, or
 * needs a processor.
 *
 * <p>Prints how long threads took to get the locks, by their own clock.
 */
public final class WhatIf {
    private static final AtomicLong BLOCKED_NANOS = new AtomicLong();

    /** The number of steps of a computation that take a microsecond or so. */
    private static final int STEPS_PER_MICRO = 300;

    private static boolean computes;
    private static volatile long sink;

    private WhatIf() {}

    /** The work of a thread in a turn, which has a number. */
    interface Program {
        void turn(Random random, int turn);
    }

    public static void main(String[] args) throws InterruptedException {
        boolean isAfter = args[1].equals("after");
        int threads = Integer.parseInt(args[2]);
        int turns = Integer.parseInt(args[3]);
        computes = args[4].equals("compute");
        Program program = program(args[0], isAfter);
        List<Thread> workers = new ArrayList<>();
        for (int at = 0; at < threads; at++) {
            Random random = new Random(at);
            Thread worker = new Thread(() -> {
                for (int turn = 0; turn < turns; turn++) {
                    program.turn(random, turn);
                }
            }, "worker-" + at);
            worker.start();
            workers.add(worker);
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("blocked " + BLOCKED_NANOS);
    }

    private static Program program(String name, boolean isAfter) {
        switch (name) {
            case "removed":
                return new Formatter(isAfter);
            case "holds":
                return new Counter(isAfter);
            case "split":
                return new Accounts(isAfter);
            case "unfair":
                return new Queue(new Guard(new ReentrantLock(!isAfter)));
            case "fair":
                return new Queue(new Guard(new ReentrantLock(isAfter)));
            case "read-write":
                return new Catalog(isAfter);
            case "next-lock":
                return new Checkout(isAfter);
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** Takes this number of microseconds, a fifth more or less. */
    static void work(Random random, int micros) {
        if (computes) {
            compute(random, micros);
        } else {
            Held.nanos(nearly(random, micros));
        }
    }

    /** The same with a processor. */
    static void compute(Random random, int micros) {
        long value = micros;
        for (long step = nearly(random, micros) * STEPS_PER_MICRO / 1_000; step > 0; step--) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        sink = value;
    }

    private static long nearly(Random random, int micros) {
        return micros * (800L + random.nextInt(400));
    }

    /** A lock that notes how long threads took to get it. */
    static final class Guard {
        private final Lock lock;

        Guard(Lock lock) {
            this.lock = lock;
        }

        void run(Runnable guarded) {
            long start = System.nanoTime();
            lock.lock();
            try {
                BLOCKED_NANOS.addAndGet(System.nanoTime() - start);
                guarded.run();
            } finally {
                lock.unlock();
            }
        }
    }

    /** An object's own lock that does the same. */
    static class Monitor {
        void run(Runnable guarded) {
            long start = System.nanoTime();
            synchronized (this) {
                BLOCKED_NANOS.addAndGet(System.nanoTime() - start);
                guarded.run();
            }
        }
    }

    static final class Format extends Monitor {}

    static final class Log extends Monitor {}

    static final class Count extends Monitor {}

    static final class Account extends Monitor {}

    static final class Items extends Monitor {}

    static final class Cart extends Monitor {}

    static final class Payment extends Monitor {}

    /** Threads write to a log what they mostly have to format under a lock; or each has a format of its own. */
    static final class Formatter implements Program {
        private final boolean hasOwn;
        private final Monitor format = new Format();
        private final Monitor log = new Log();

        Formatter(boolean hasOwn) {
            this.hasOwn = hasOwn;
        }

        @Override
        public void turn(Random random, int turn) {
            work(random, 2_000);
            if (random.nextInt(3) == 0) {
                work(random, 500);
            } else if (hasOwn) {
                work(random, 1_500);
            } else {
                format.run(() -> work(random, 1_500));
            }
            log.run(() -> work(random, 300));
        }
    }

    /** Threads do under a lock what only half of needs it. */
    static final class Counter implements Program {
        private final boolean isShort;
        private final Monitor count = new Count();

        Counter(boolean isShort) {
            this.isShort = isShort;
        }

        @Override
        public void turn(Random random, int turn) {
            work(random, 9_000);
            count.run(() -> work(random, isShort ? 1_500 : 3_000));
        }
    }

    /** Threads book on accounts under one lock for all, or under one of four by the account's number. */
    static final class Accounts implements Program {
        private final Monitor[] stripes;

        Accounts(boolean isSplit) {
            stripes = new Monitor[isSplit ? 4 : 1];
            for (int at = 0; at < stripes.length; at++) {
                stripes[at] = new Account();
            }
        }

        @Override
        public void turn(Random random, int turn) {
            work(random, 4_500);
            int account = random.nextInt(1_000);
            stripes[account % stripes.length].run(() -> work(random, 3_000));
        }
    }

    /** Threads want the same lock again soon after they have released it. */
    static final class Queue implements Program {
        private final Guard guard;

        Queue(Guard guard) {
            this.guard = guard;
        }

        @Override
        public void turn(Random random, int turn) {
            guard.run(() -> work(random, 300));
            compute(random, 20);
        }
    }

    /** Nine times of ten, threads only read. */
    static final class Catalog implements Program {
        private final Guard readers;
        private final Guard writers;

        Catalog(boolean isShared) {
            if (isShared) {
                ReadWriteLock lock = new ReentrantReadWriteLock();
                readers = new Guard(lock.readLock());
                writers = new Guard(lock.writeLock());
            } else {
                readers = new Guard(new ReentrantLock());
                writers = readers;
            }
        }

        @Override
        public void turn(Random random, int turn) {
            work(random, 1_500);
            if (random.nextInt(10) == 0) {
                update(random);
            } else {
                find(random);
            }
        }

        private void find(Random random) {
            readers.run(() -> work(random, 800));
        }

        private void update(Random random) {
            writers.run(() -> work(random, 800));
        }
    }

    /** Threads take one lock after another one: those that the first one holds up less meet at the second. */
    static final class Checkout implements Program {
        private final boolean isShort;
        private final Monitor cart = new Cart();
        private final Monitor payment = new Payment();

        Checkout(boolean isShort) {
            this.isShort = isShort;
        }

        @Override
        public void turn(Random random, int turn) {
            work(random, 200);
            cart.run(() -> work(random, isShort ? 600 : 1_200));
            payment.run(() -> work(random, 1_000));
        }
    }
}

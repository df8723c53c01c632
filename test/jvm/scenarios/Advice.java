package scenarios;

import java.lang.management.ManagementFactory;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Programs with one planted cause of waiting each. Prints how long threads waited by their own clocks, in nanoseconds,
 * from before they wanted a lock until they had it.
 */
public final class Advice {
    private static final LongAdder WAITED_NS = new LongAdder();
    private static final int ROUNDS = 12;

    private static volatile int written;

    private Advice() {
    }

    public static void main(String[] args) throws InterruptedException {
        switch (args[0]) {
            case "chain":
                run(5, worker -> worker == 0 ? Inner::refresh : worker == 1 ? Outer::update : Outer::look);
                break;
            case "key":
                run(6, worker -> Cache::load);
                break;
            case "stripes":
                run(6, worker -> () -> Stripes.put(worker));
                break;
            case "format":
                run(4, worker -> Ledger::printTwice);
                break;
            case "pool":
                run(9, worker -> worker < 3 ? Mailer::deliver : Reader::read);
                System.out.println("kept " + Mailer.KEPT_NS.sum() / (3 * ROUNDS));
                break;
            case "fair":
                run(6, worker -> Fair::count);
                break;
            case "two-fair":
                run(6, worker -> worker < 4 ? Fair::count : Slow::work);
                break;
            case "compute":
                run(2, worker -> Holder::compute);
                break;
            case "rest":
                run(2, worker -> Holder::rest);
                break;
            default:
                // Its class is initialized before threads meet there.
                Ledger.touch();
                run(4, worker -> Ledger::touch);
        }
        System.out.println("waited " + WAITED_NS.sum());
        System.out.println("ran " + Holder.RAN_NS.sum() + " of " + Holder.HELD_NS.sum());
    }

    private interface Plan {
        Runnable of(int worker);
    }

    private static void run(int workers, Plan plan) throws InterruptedException {
        Thread[] threads = new Thread[workers];
        for (int worker = 0; worker < workers; worker++) {
            Runnable round = plan.of(worker);
            threads[worker] = new Thread(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    round.run();
                }
            }, "worker-" + worker);
            threads[worker].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void sleep(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Those who want it wait for its owner, which waits for the inner lock itself. */
    private static final class Outer {
        private static final Object LOCK = new Outer();

        static void update() {
            synchronized (LOCK) {
                Inner.read();
            }
            sleep(1);
        }

        static void look() {
            long from = System.nanoTime();
            synchronized (LOCK) {
                WAITED_NS.add(System.nanoTime() - from);
            }
            sleep(10);
        }
    }

    /** Is held for long by {@code refresh}: the cause. */
    private static final class Inner {
        private static final Object LOCK = new Inner();

        static void refresh() {
            synchronized (LOCK) {
                sleep(40);
            }
            sleep(1);
        }

        static void read() {
            long from = System.nanoTime();
            synchronized (LOCK) {
                WAITED_NS.add(System.nanoTime() - from);
            }
        }
    }

    /** All want one key, which one of them computes. */
    private static final class Cache {
        private static final ConcurrentHashMap<String, Integer> MAP = new ConcurrentHashMap<>();

        static void load() {
            long from = System.nanoTime();
            long[] begun = new long[1];
            MAP.compute("key", (key, old) -> {
                begun[0] = System.nanoTime();
                return compute();
            });
            WAITED_NS.add(begun[0] - from);
            sleep(5);
        }

        static Integer compute() {
            sleep(20);
            return 1;
        }
    }

    /** Sixteen locks, nearly all of whose users have the same one. */
    private static final class Stripes {
        private static final Object[] LOCKS = new Object[16];
        private static final CyclicBarrier TWO = new CyclicBarrier(2);

        static {
            for (int stripe = 0; stripe < LOCKS.length; stripe++) {
                LOCKS[stripe] = new Stripes();
            }
        }

        static void put(int worker) {
            for (int i = 0; i < 32; i++) {
                boolean isOther = worker < 2 && i == 0;
                if (isOther) {
                    meet();
                }
                long from = System.nanoTime();
                synchronized (LOCKS[isOther ? 1 : 0]) {
                    WAITED_NS.add(System.nanoTime() - from);
                    sleep(1);
                }
            }
        }

        private static void meet() {
            try {
                TWO.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Lends two objects. */
    private static final class Pool {
        private static final ReentrantLock LOCK = new ReentrantLock();
        private static final Condition RETURNED = LOCK.newCondition();
        private static int free = 2;

        static void borrow() {
            LOCK.lock();
            try {
                while (free == 0) {
                    RETURNED.awaitUninterruptibly();
                }
                free--;
            } finally {
                LOCK.unlock();
            }
        }

        static void giveBack() {
            LOCK.lock();
            try {
                free++;
                RETURNED.signal();
            } finally {
                LOCK.unlock();
            }
        }
    }

    /** Keeps what it has borrowed while it does something else. */
    private static final class Mailer {
        static final LongAdder KEPT_NS = new LongAdder();

        static void deliver() {
            Pool.borrow();
            long from = System.nanoTime();
            sleep(30);
            KEPT_NS.add(System.nanoTime() - from);
            Pool.giveBack();
            sleep(1);
        }
    }

    /** Gives back soon what it has borrowed. */
    private static final class Reader {
        static void read() {
            for (int i = 0; i < 5; i++) {
                Pool.borrow();
                sleep(2);
                Pool.giveBack();
                sleep(1);
            }
        }
    }

    /** Formats while it holds its lock, or only touches it. */
    private static final class Ledger {
        private static final Object LOCK = new Ledger();

        static void printTwice() {
            print();
            print();
        }

        static void print() {
            long from = System.nanoTime();
            synchronized (LOCK) {
                WAITED_NS.add(System.nanoTime() - from);
                format();
            }
        }

        static void format() {
            long until = System.nanoTime() + 60_000_000;
            while (System.nanoTime() < until) {
                written += String.format("%08d %s %.3f", until, "statement", 1.5).length();
            }
        }

        static void touch() {
            long from = System.nanoTime();
            synchronized (LOCK) {
                WAITED_NS.add(System.nanoTime() - from);
                written++;
            }
            sleep(60);
        }
    }

    /** Computes under its lock, or sleeps; adds up how long it was on a processor. */
    private static final class Holder {
        static final LongAdder HELD_NS = new LongAdder();
        static final LongAdder RAN_NS = new LongAdder();
        private static final Object LOCK = new Holder();

        static void compute() {
            synchronized (LOCK) {
                long from = System.nanoTime();
                long ran = ranNs();
                while (ranNs() - ran < 60_000_000) {
                    written++;
                }
                held(from, ran);
            }
            sleep(1);
        }

        static void rest() {
            synchronized (LOCK) {
                long from = System.nanoTime();
                long ran = ranNs();
                sleep(60);
                held(from, ran);
            }
            sleep(1);
        }

        private static long ranNs() {
            return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        }

        private static void held(long from, long ran) {
            HELD_NS.add(System.nanoTime() - from);
            RAN_NS.add(ranNs() - ran);
        }
    }

    /** A lock of the same class as the one of {@link Fair}, which is held for long. */
    private static final class Slow {
        private static final ReentrantLock LOCK = new ReentrantLock(true);

        static void work() {
            LOCK.lock();
            try {
                sleep(15);
            } finally {
                LOCK.unlock();
            }
        }
    }

    /** A fair lock that is held for microseconds only. Counts for a time: threads meet however fast the machine is. */
    private static final class Fair {
        private static final long ROUND_NS = 20_000_000;
        private static final ReentrantLock LOCK = new ReentrantLock(true);

        static void count() {
            long from = System.nanoTime();
            while (System.nanoTime() - from < ROUND_NS) {
                LOCK.lock();
                try {
                    written++;
                } finally {
                    LOCK.unlock();
                }
            }
        }
    }
}

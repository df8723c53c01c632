package scenarios;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A thread holds a lock again and again, spends its time in several methods meanwhile, and releases the
 * lock in yet another one. Others wait for it.
 *
 * <p>Arguments: {@code monitor} or {@code reentrant}, how often the lock is held, how many threads wait for
 * it, and how many others want a processor. Prints how long each method took in all, by the program's clock.
 */
public final class OwnersAtWork {
    /** So long that others have waited for long when it is over. */
    private static final long PREPARE_NANOS = 12_000_000;
    private static final long PARSE_NANOS = 10_000_000;
    private static final long COMPUTE_NANOS = 25_000_000;
    private static final long STORE_MILLIS = 15;
    /** Between two holds, so that others come to the lock. */
    private static final long PAUSE_MILLIS = 3;

    private static final class Lock {
    }

    private final Lock monitor = new Lock();
    private final ReentrantLock lock = new ReentrantLock();
    private final boolean isMonitor;
    private final int holds;
    private volatile boolean done;
    private int value;
    private long prepared;
    private long parsed;
    private long computed;
    private long stored;

    private OwnersAtWork(boolean isMonitor, int holds) {
        this.isMonitor = isMonitor;
        this.holds = holds;
    }

    public static void main(String[] args) throws InterruptedException {
        OwnersAtWork work = new OwnersAtWork(args[0].equals("monitor"), Integer.parseInt(args[1]));
        work.run(Integer.parseInt(args[2]), Integer.parseInt(args[3]));
    }

    private void run(int waiters, int spinners) throws InterruptedException {
        for (int i = 0; i < spinners; i++) {
            Thread spinner = new Thread(this::spin, "spinner-" + i);
            spinner.setDaemon(true);
            spinner.start();
        }
        Thread owner = new Thread(this::own, "owner");
        owner.start();
        Thread[] threads = new Thread[waiters];
        for (int i = 0; i < waiters; i++) {
            threads[i] = new Thread(this::await, "waiter-" + i);
            threads[i].start();
        }
        owner.join();
        done = true;
        for (Thread thread : threads) {
            thread.join();
        }
        print("prepare", prepared);
        print("parse", parsed);
        print("compute", computed);
        print("store", stored);
        System.out.println("value " + value);
    }

    private static void print(String method, long nanos) {
        System.out.println("spent " + method + " " + nanos);
    }

    private void own() {
        for (int i = 0; i < holds; i++) {
            if (isMonitor) {
                synchronized (monitor) {
                    work();
                }
            } else {
                lock.lock();
                work();
                finish();
            }
            sleep(PAUSE_MILLIS);
        }
    }

    private void finish() {
        lock.unlock();
    }

    private void work() {
        long began = System.nanoTime();
        prepare();
        long prepared = System.nanoTime();
        parse();
        long parsed = System.nanoTime();
        compute();
        long computed = System.nanoTime();
        store();
        long stored = System.nanoTime();
        this.prepared += prepared - began;
        this.parsed += parsed - prepared;
        this.computed += computed - parsed;
        this.stored += stored - computed;
    }

    private void prepare() {
        long end = System.nanoTime() + PREPARE_NANOS;
        do {
            for (int i = 0; i < 1000; i++) {
                value = value * 31 + i;
            }
        } while (System.nanoTime() < end);
    }

    private void parse() {
        long end = System.nanoTime() + PARSE_NANOS;
        do {
            for (int i = 0; i < 1000; i++) {
                value = value * 33 ^ i;
            }
        } while (System.nanoTime() < end);
    }

    private void compute() {
        long end = System.nanoTime() + COMPUTE_NANOS;
        do {
            for (int i = 0; i < 1000; i++) {
                value = value * 37 - i;
            }
        } while (System.nanoTime() < end);
    }

    private void store() {
        sleep(STORE_MILLIS);
    }

    private void await() {
        while (!done) {
            if (isMonitor) {
                synchronized (monitor) {
                    value++;
                }
            } else {
                lock.lock();
                value++;
                lock.unlock();
            }
            sleep(1);
        }
    }

    private void spin() {
        int spun = 0;
        while (!done) {
            spun++;
        }
        value += spun;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

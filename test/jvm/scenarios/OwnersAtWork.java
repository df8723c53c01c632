package scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A thread holds a lock again and again, spends its time in several methods meanwhile, and releases the
 * lock in yet another one. Others wait for it.
 *
 * <p>Arguments: {@code monitor} or {@code reentrant}, how often the lock is held, how many threads wait for
 * it, and how many others want a processor. Prints by the program's clock of each hold when each method began, and when
 * the last one ended, and of each acquisition by the others from when to when they waited.
 */
public final class OwnersAtWork {
    /** Long enough that others have waited for long when it is over. */
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
    private final List<String> log = new ArrayList<>();
    private volatile boolean done;
    private int value;

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
        Waiter[] threads = new Waiter[waiters];
        for (int i = 0; i < waiters; i++) {
            threads[i] = new Waiter("waiter-" + i);
            threads[i].start();
        }
        owner.join();
        done = true;
        for (Waiter thread : threads) {
            thread.join();
            log.addAll(thread.log);
        }
        log.forEach(System.out::println);
        System.out.println("value " + value);
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
        log.add("hold " + began + " " + prepared + " " + parsed + " " + computed + " " + stored);
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

    private final class Waiter extends Thread {
        final List<String> log = new ArrayList<>();

        Waiter(String name) {
            super(name);
        }

        @Override
        public void run() {
            while (!done) {
                long began = System.nanoTime();
                long acquired = acquire();
                log.add("wait " + began + " " + acquired);
                OwnersAtWork.sleep(1);
            }
        }
    }

    private long acquire() {
        if (isMonitor) {
            synchronized (monitor) {
                value++;
                return System.nanoTime();
            }
        }
        lock.lock();
        try {
            value++;
            return System.nanoTime();
        } finally {
            lock.unlock();
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

package scenarios;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads wait for a monitor and for a lock of java.util.concurrent, both of which the main thread has while it waits
 * for a line of input. Whatever becomes of the process meanwhile, each of them waits as long as it says.
 */
public final class Frozen {
    private static final int WAITERS = 3;
    private static final Object MONITOR = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();

    private Frozen() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Thread[] waiters = new Thread[2 * WAITERS];
        holdBoth(waiters);
        for (Thread waiter : waiters) {
            waiter.join();
        }
    }

    private static void holdBoth(Thread[] waiters) throws IOException {
        LOCK.lock();
        try {
            synchronized (MONITOR) {
                for (int at = 0; at < waiters.length; at++) {
                    Runnable waits = at < WAITERS ? Frozen::waitForMonitor : Frozen::waitForLock;
                    waiters[at] = new Thread(waits, "waiter-" + at);
                    waiters[at].start();
                }
                for (Thread waiter : waiters) {
                    awaitBlocked(waiter);
                }
                System.out.println("blocked");
                System.in.read();
            }
        } finally {
            LOCK.unlock();
        }
    }

    private static void awaitBlocked(Thread waiter) {
        while (waiter.getState() != Thread.State.BLOCKED && waiter.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
    }

    private static void waitForMonitor() {
        long start = System.nanoTime();
        synchronized (MONITOR) {
            say(start);
        }
    }

    private static void waitForLock() {
        long start = System.nanoTime();
        LOCK.lock();
        try {
            say(start);
        } finally {
            LOCK.unlock();
        }
    }

    private static void say(long start) {
        System.out.println("waited " + (System.nanoTime() - start));
    }
}

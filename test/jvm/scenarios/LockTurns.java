package scenarios;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads block each other on one lock as often as they can for some time. The owner yields the processor, so that
 * another thread runs into the lock.
 *
 * <p>Arguments: the lock ({@code monitor} or {@code nonfair}), the number of threads, and the time in milliseconds.
 */
public final class LockTurns {
    private static final Object monitor = new Object();
    private static final ReentrantLock lock = new ReentrantLock();
    private static long end;

    private LockTurns() {}

    public static void main(String[] args) throws InterruptedException {
        Runnable turns = args[0].equals("monitor") ? LockTurns::ofMonitor : LockTurns::ofLock;
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[2]));
        for (int number = 0; number < threads.length; number++) {
            threads[number] = new Thread(turns, "turns-" + number);
            threads[number].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void ofMonitor() {
        while (System.nanoTime() < end) {
            synchronized (monitor) {
                Thread.yield();
            }
        }
    }

    private static void ofLock() {
        while (System.nanoTime() < end) {
            lock.lock();
            try {
                Thread.yield();
            } finally {
                lock.unlock();
            }
        }
    }
}

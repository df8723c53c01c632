package scenarios;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads "first-N" are given a permit as they end, or when they have ended. The
 * JVM gives what they parked with to the next thread, "second-N", which parks for
 * a while and may find that permit.
 *
 * <p>Prints {@code early NAME} for each thread whose park ended too early although
 * nobody unparked it.
 */
public final class StrayPermits {
    private static final int ROUNDS = 20;
    private static final long WHILE_NANOS = 200_000_000;

    private volatile boolean isUnparked;
    private volatile boolean mayEnd;

    private StrayPermits() {}

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            new StrayPermits().run(round);
        }
    }

    private void run(int round) throws InterruptedException {
        boolean isInTime = round % 2 == 0;
        Thread first = new Thread(this::parkAndEnd, "first-" + round);
        first.start();
        isUnparked = true;
        LockSupport.unpark(first);
        if (isInTime) {
            LockSupport.unpark(first);
        }
        mayEnd = true;
        first.join();
        // The JVM is not done with the thread yet.
        TimeUnit.MILLISECONDS.sleep(5);
        if (!isInTime) {
            LockSupport.unpark(first);
        }

        Thread second = new Thread(this::parkForAWhile, "second-" + round);
        second.start();
        second.join();
    }

    private void parkAndEnd() {
        while (!isUnparked) {
            LockSupport.park(this); // it may find a permit of the thread before, too
        }
        while (!mayEnd) {
            Thread.yield();
        }
    }

    private void parkForAWhile() {
        long startNanos = System.nanoTime();
        LockSupport.parkNanos(this, WHILE_NANOS);
        if (System.nanoTime() - startNanos < WHILE_NANOS) {
            System.out.println("early " + Thread.currentThread().getName());
        }
    }
}

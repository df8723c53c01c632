package scenarios;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/**
 * Many objects of a class are biased towards the thread "main". Another thread,
 * "thief", locks them one after the other, until the JVM gives the bias of all
 * objects of the class away at once. A second thief after it has the JVM take
 * the bias from the class for good. At every twentieth object main holds the
 * lock.
 *
 * <p>The trace must show one wait of "thief" for each of those, blocked by
 * "main" in {@link #hold}, in the order in which the program prints the locks:
 * {@code lock CLASS HEX}.
 */
public final class BiasRevocation {
    private static final int LOCKS = 200;
    private static final int STEP = 20;

    private final Lock[] locks = new Lock[LOCKS];
    /** Keeps the first thief alive: the bias is to the address of its thread structure. */
    private final CountDownLatch over = new CountDownLatch(1);
    /** One permit for each lock that the thief may want. */
    private final Semaphore offered = new Semaphore(0);
    /** One for each that it has had. */
    private final Semaphore taken = new Semaphore(0);

    private BiasRevocation() {}

    public static void main(String[] args) {
        new BiasRevocation().run();
    }

    private void run() {
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Lock();
            locks[i].pass();
        }
        beRobbed();
        beRobbed();
        over.countDown();
        for (int i = 0; i < 2 * LOCKS; i += STEP) {
            System.out.println(HashCodes.lockLine(locks[i % LOCKS]));
        }
    }

    private void beRobbed() {
        Thread thief = new Thread(this::steal, "thief");
        thief.start();
        for (int i = 0; i < LOCKS; i++) {
            if (i % STEP == 0) {
                hold(locks[i], thief);
            } else {
                offered.release();
            }
            taken.acquireUninterruptibly();
        }
    }

    private void hold(Lock lock, Thread thief) {
        synchronized (lock) {
            offered.release();
            new Held(thief).run();
        } // @leave
    }

    private void steal() {
        for (Lock lock : locks) {
            offered.acquireUninterruptibly();
            lock.pass();
            taken.release();
        }
        try {
            over.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static final class Lock {
        private int acquired;

        synchronized void pass() {
            acquired++;
        }
    }
}

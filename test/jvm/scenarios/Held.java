package scenarios;

import java.util.concurrent.locks.LockSupport;

/**
 * The work of the owner of a lock while it holds it: nothing in the warm-up, later it makes sure
 * that another thread is really blocked.
 *
 * <p>The harness forbids inlining of this class. Its rarely taken branches thus
 * deoptimize its own frames only, and the code that releases the lock is the
 * compiled code under test.
 */
final class Held implements Runnable {
    /** The time that the owner goes on once the other thread is blocked. */
    static final long BLOCKED_NANOS = 20_000_000;

    /** The warm-up holds the lock for no time. */
    static final Held NOT_AT_ALL = new Held(null);

    private final Thread waiter;
    private final Runnable onBlocked;
    private volatile boolean entered;

    Held(Thread waiter) {
        this(waiter, () -> {});
    }

    /** {@code onBlocked} runs in the owner once the waiter is blocked. */
    Held(Thread waiter, Runnable onBlocked) {
        this.waiter = waiter;
        this.onBlocked = onBlocked;
    }

    @Override
    public void run() {
        if (waiter == null) {
            return;
        }
        entered = true;
        while (waiter.getState() != Thread.State.BLOCKED) {
            LockSupport.parkNanos(1_000_000);
        }
        nanos(BLOCKED_NANOS);
        onBlocked.run();
    }

    /** {@link #run}, and then leaves the caller in a hurry. */
    void runAndThrow(RuntimeException exception) {
        run();
        throw exception;
    }

    /** Lets the waiter have the lock for a moment; the caller owns it. */
    void await(Object lock) throws InterruptedException {
        if (waiter != null) {
            lock.wait(1);
        }
    }

    void awaitEntered() {
        while (!entered) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Lets time pass without using a processor. */
    static void nanos(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}

package scenarios;

/**
 * Many threads wait for a message that never comes. In each round the thread
 * "main" interrupts all of them while it holds the lock: each leaves the wait
 * and is blocked, some until others have had the lock.
 *
 * <p>The trace must show one wait of each thread, "waiter-0" to "waiter-15", in
 * each of ten rounds, after {@code Object.wait}, blocked by main in
 * {@link #interrupt}.
 */
public final class InterruptStorm {
    private static final int WAITERS = 16;
    private static final int ROUNDS = 10;
    private static final long HOLD_NANOS = 5_000_000;

    private final Thread[] waiters = new Thread[WAITERS];

    private InterruptStorm() {}

    public static void main(String[] args) {
        new InterruptStorm().run();
    }

    private void run() {
        for (int i = 0; i < WAITERS; i++) {
            waiters[i] = new Thread(this::waitThroughRounds, "waiter-" + i);
            waiters[i].start();
        }
        for (int round = 0; round < ROUNDS; round++) {
            NotifyStorm.await(Thread.State.WAITING, waiters);
            interrupt(); // @storm
        }
    }

    private synchronized void interrupt() {
        for (Thread waiter : waiters) { // @enter
            waiter.interrupt();
        }
        NotifyStorm.await(Thread.State.BLOCKED, waiters);
        Held.nanos(HOLD_NANOS);
    } // @leave

    private synchronized void waitThroughRounds() {
        for (int round = 0; round < ROUNDS; round++) {
            try {
                while (true) {
                    wait();
                }
            } catch (InterruptedException expected) {
                continue;
            }
        }
    }
}

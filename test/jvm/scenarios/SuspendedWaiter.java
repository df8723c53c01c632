package scenarios;

/**
 * A thread "waiter" is suspended while it is blocked. It is given the lock, and
 * has to give it back at once, as it must not run. The thread "main" takes the
 * lock and resumes it, which makes it block again.
 *
 * <p>The trace must show one wait of "waiter" a round, first blocked by "owner"
 * in {@link #own} and then by "main" in {@link #hold}. That the
 * waiter is back in the queue before main lets go takes it far less time than
 * main gives it.
 *
 * <p>Prints when the waiter wanted the lock and when it had it:
 * {@code wait ROUND WANTED_NS RETURNED_NS}.
 */
public final class SuspendedWaiter {
    private static final int ROUNDS = 5;
    private static final long NOTICE_NANOS = 20_000_000;

    private final Object lock = new Object();
    private int acquired;
    private long wanted;
    private long returned;

    private SuspendedWaiter() {}

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            SuspendedWaiter scenario = new SuspendedWaiter();
            scenario.run();
            System.out.println("wait " + round + " " + scenario.wanted + " " + scenario.returned);
        }
    }

    private void run() throws InterruptedException {
        Thread waiter = new Thread(this::want, "waiter");
        Held held = new Held(waiter, () -> suspend(waiter));
        Thread owner = new Thread(() -> own(held), "owner");
        owner.start();
        held.awaitEntered();
        waiter.start();
        owner.join();
        Held.nanos(NOTICE_NANOS);
        hold(waiter); // @hold
        waiter.join();
    }

    private void own(Held held) {
        synchronized (lock) {
            held.run();
        } // @own
    }

    private void hold(Thread waiter) {
        synchronized (lock) {
            resume(waiter);
            Held.nanos(NOTICE_NANOS);
        } // @leave
    }

    private void want() {
        wanted = System.nanoTime();
        synchronized (lock) { // @wanted
            acquired++;
        }
        returned = System.nanoTime();
    }

    @SuppressWarnings("deprecation")
    private static void suspend(Thread thread) {
        thread.suspend();
    }

    @SuppressWarnings("deprecation")
    private static void resume(Thread thread) {
        thread.resume();
    }
}

package scenarios;

import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread "main" blocks another thread three times: under the name it was
 * started with, after it has renamed itself, and after it was renamed by main.
 *
 * <p>The trace must show one wait under each of the names "christened",
 * "renamed" and "renamed by another".
 */
public final class Renamed {
    private final Semaphore turns = new Semaphore(0);
    private int passed;

    private Renamed() {}

    public static void main(String[] args) throws InterruptedException {
        Renamed lock = new Renamed();
        Thread waiter = new Thread(lock::passThrice, "christened");
        lock.block(waiter, waiter::start);

        awaitWaiting(waiter);
        lock.block(waiter, lock.turns::release);

        awaitWaiting(waiter);
        waiter.setName("renamed by another");
        lock.block(waiter, lock.turns::release);
        waiter.join();
    }

    private synchronized void block(Thread waiter, Runnable letGo) {
        letGo.run();
        new Held(waiter).run();
    }

    private void passThrice() {
        pass();
        Thread.currentThread().setName("renamed");
        turns.acquireUninterruptibly();
        pass();
        turns.acquireUninterruptibly();
        pass();
    }

    private synchronized void pass() {
        passed++;
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(1_000_000);
        }
    }
}

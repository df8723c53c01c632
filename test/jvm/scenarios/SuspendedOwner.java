package scenarios;

/**
 * The owner is suspended while it holds the lock, and resumed.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.SuspendedOwner.own leave
 * waiter scenarios.SuspendedOwner.want wanted
 * </pre>
 */
final class SuspendedOwner implements Scenario {
    private final Object lock = new Object();
    private volatile boolean suspended;
    private int acquired;

    @Override
    public void own(Held held) {
        synchronized (lock) {
            held.run();
        } // @leave
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }

    @Override
    @SuppressWarnings("deprecation")
    public void onBlocked() {
        Thread owner = Thread.currentThread();
        suspended = true;
        new Thread(() -> resume(owner), "resumer").start();
        owner.suspend();
        suspended = false;
    }

    /** Also if the owner has not come as far as to suspend itself. */
    @SuppressWarnings("deprecation")
    private void resume(Thread owner) {
        while (suspended) {
            Held.nanos(5_000_000);
            owner.resume();
        }
    }
}

package scenarios;

import java.util.concurrent.locks.LockSupport;

/**
 * Threads that native code created attach themselves to the JVM, contend for a
 * lock with JNI's MonitorEnter, and detach.
 *
 * <p>The trace must show:
 *
 * <ul>
 *   <li>one wait of "native-waiter", blocked by "main" in {@code block};
 *   <li>one wait of "waiter", blocked by "native-owner", which released the
 *       lock with MonitorExit;
 *   <li>one wait of "waiter", blocked by "native-leaver", which detached while
 *       it held the lock, so that the JVM released it.
 * </ul>
 *
 * Native threads run no Java code when they enter and exit, so their call
 * chains are empty.
 */
public final class Attached {
    private int passed;

    private Attached() {}

    public static void main(String[] args) throws InterruptedException {
        Natives.load();
        Attached lock = new Attached();

        join(lock.block());

        lock.beBlockedBy("native-owner", true);
        lock.beBlockedBy("native-leaver", false);
        System.out.println("passed " + lock.passed);
    }

    /** Keeps a native thread waiting for this object's lock. */
    private synchronized long block() {
        long thread = start("native-waiter", this, Held.NOT_AT_ALL, true);
        new Held(awaitAttached("native-waiter")).run();
        return thread;
    }

    private void beBlockedBy(String name, boolean exit) throws InterruptedException {
        Thread waiter = new Thread(this::pass, "waiter");
        Held held = new Held(waiter);
        long owner = start(name, this, held, exit);
        held.awaitEntered();
        waiter.start();
        join(owner);
        waiter.join();
    }

    private synchronized void pass() {
        passed++;
    }

    private static Thread awaitAttached(String name) {
        while (true) {
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().equals(name)) {
                    return thread;
                }
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /**
     * Starts a native thread that attaches under a name, enters a monitor,
     * calls {@code held.run()}, exits the monitor if {@code exit}, and detaches.
     */
    private static native long start(String name, Object lock, Held held, boolean exit);

    private static native void join(long thread);
}

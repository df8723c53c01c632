package scenarios;

/**
 * Threads that want a lock all the time, so that any other thread that wants it is blocked now and
 * then, without a partner's help.
 */
final class Crowd {
    private static final int SIZE = 2;

    private final Object lock;
    private volatile boolean present;
    private int passed;

    Crowd(Object lock) {
        this.lock = lock;
        for (int i = 0; i < SIZE; i++) {
            Thread thread = new Thread(this::contend, "crowd-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    void come() {
        present = true;
    }

    void go() {
        present = false;
    }

    private void contend() {
        while (true) {
            if (!present) {
                Held.nanos(1_000_000);
                continue;
            }
            synchronized (lock) {
                passed++;
                // The others find the lock taken, and no spinning helps them.
                Thread.yield();
            }
        }
    }
}

package scenarios;

/**
 * The time that a thread had a lock, on the clock of {@link System#nanoTime}:
 * two readings around acquiring it, two around releasing it. Written by that
 * thread alone, read after it has ended.
 */
final class Hold {
    private final Object lock;
    private long wanted;
    private long acquired;
    private long released;
    private long left;

    Hold(Object lock) {
        this.lock = lock;
    }

    /** The thread is about to ask for the lock. */
    void want() {
        wanted = System.nanoTime();
    }

    /** The thread has the lock. */
    void acquired() {
        acquired = System.nanoTime();
    }

    /** The thread is about to release the lock. */
    void release() {
        released = System.nanoTime();
    }

    /** The thread does not have the lock any more. */
    void left() {
        left = System.nanoTime();
    }

    /** The lock, as a trace names it, and the four times. */
    @Override
    public String toString() {
        String hash = Integer.toHexString(System.identityHashCode(lock));
        String name = hash + "@" + lock.getClass().getName();
        return name + " " + wanted + " " + acquired + " " + released + " " + left;
    }
}

package scenarios;

/**
 * One turn of a thread with a lock, on the clock of {@link System#nanoTime}.
 * Written by that thread alone, read after it has ended. Never inlined, for the
 * reason that {@link Held} gives.
 */
final class Turn {
    private final long holdNanos;
    private long wanted;
    private long acquired;
    private long released;

    Turn(long holdNanos) {
        this.holdNanos = holdNanos;
    }

    void want() {
        wanted = System.nanoTime();
    }

    /** Runs while the thread holds the lock. */
    void run() {
        acquired = System.nanoTime();
        Held.nanos(holdNanos);
        released = System.nanoTime();
    }

    @Override
    public String toString() {
        return wanted + " " + acquired + " " + released;
    }
}

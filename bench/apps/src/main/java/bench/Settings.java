package bench;

/** Settings of the application from the command line. */
public final class Settings {
    private final int threads;
    private final Size size;
    private final int holdSteps;
    private final int thinkSteps;

    Settings(int threads, Size size, int holdSteps, int thinkSteps) {
        this.threads = threads;
        this.size = size;
        this.holdSteps = holdSteps;
        this.thinkSteps = thinkSteps;
    }

    /** Returns the number of threads that share the work of an iteration. */
    public int threads() {
        return threads;
    }

    /** Returns the number of pairs of threads that share the work of an iteration, where they
     * come in pairs. */
    public int pairs() {
        return Math.max(1, threads / 2);
    }

    /** The amount of work of an iteration, of all threads together, given that at the default size. */
    public int work(int atDefaultSize) {
        return size.scale(atDefaultSize);
    }

    /** Returns the work of a hammering thread while it has the lock, in the steps of {@code
     * Busy}. */
    public int holdSteps() {
        return holdSteps;
    }

    /** Returns the work of a hammering thread before it wants the lock again, in the steps of
     * {@code Busy}. */
    public int thinkSteps() {
        return thinkSteps;
    }
}

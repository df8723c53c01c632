package bench;

/** What the command line says about the application. */
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

    /** How many threads share the work of an iteration. */
    public int threads() {
        return threads;
    }

    /** How many pairs of threads share the work of an iteration, where they come in pairs. */
    public int pairs() {
        return Math.max(1, threads / 2);
    }

    /** The amount of work of an iteration, of all threads together, given that at the default size. */
    public int work(int atDefaultSize) {
        return size.scale(atDefaultSize);
    }

    /** How much a hammering thread does while it has the lock, in the steps of {@code Busy}. */
    public int holdSteps() {
        return holdSteps;
    }

    /** How much a hammering thread does before it wants the lock again, in the steps of {@code Busy}. */
    public int thinkSteps() {
        return thinkSteps;
    }
}

package scenarios;

/**
 * A thread that ends wakes up those that join it, for which the JVM takes the
 * lock of the {@code Thread} object when no Java code is left on the stack. The
 * thread "main" holds that lock meanwhile.
 *
 * <p>The trace must show one wait of each thread, "ending-0" to "ending-9", with
 * an empty call chain, blocked by "main" in {@link #outlast}.
 */
public final class ThreadExit extends Thread {
    private static final int ROUNDS = 10;

    private ThreadExit(int round) {
        super("ending-" + round);
    }

    public static void main(String[] args) throws InterruptedException {
        for (int round = 0; round < ROUNDS; round++) {
            ThreadExit thread = new ThreadExit(round);
            thread.outlast(); // @outlast
            while (thread.isAlive()) { // join() would take the lock once more
                Thread.sleep(1);
            }
        }
    }

    private synchronized void outlast() {
        start(); // @enter
        new Held(this).run();
    } // @leave
}

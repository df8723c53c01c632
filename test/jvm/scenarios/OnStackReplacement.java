package scenarios;

/**
 * The owner runs a long loop while it holds the lock. The loop is compiled as it
 * runs, and the frame replaced by one of compiled code, which takes over the
 * lock. In the middle of the loop the waiter comes.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.OnStackReplacement.loop leave
 * owner  scenarios.OnStackReplacement.own own
 * waiter scenarios.OnStackReplacement.want wanted
 * </pre>
 */
final class OnStackReplacement implements Scenario {
    private static final int ITERATIONS = 400_000;

    private final Object lock = new Object();
    private int count;

    @Override
    public void own(Held held) {
        loop(held); // @own
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            count++;
        }
    }

    /** Calls would have the method compiled as a whole. */
    @Override
    public int warmUp() {
        return 0;
    }

    private void loop(Held held) {
        synchronized (lock) {
            for (int i = 0; i < ITERATIONS; i++) {
                if (i == ITERATIONS / 2) {
                    held.run();
                }
                count += i ^ count;
            }
        } // @leave
    }
}

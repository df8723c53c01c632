package scenarios;

/**
 * The owner enters its lock fifty times over. Forty-nine exits let nobody in.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.Recursive.own leave
 * waiter scenarios.Recursive.want wanted
 * </pre>
 */
final class Recursive implements Scenario {
    private static final int DEPTH = 49;

    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) {
        synchronized (lock) {
            enter(DEPTH, held);
        } // @leave
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }

    private void enter(int depth, Held held) {
        synchronized (lock) {
            if (depth == 1) {
                held.run();
            } else {
                enter(depth - 1, held);
            }
        }
    }
}

package scenarios;

/**
 * The lock is released in the outer method, after calls that were inlined into
 * it have come and gone: none of them may show.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.InlinedCallee.own leave
 * waiter scenarios.InlinedCallee.want wanted
 * </pre>
 */
final class InlinedCallee implements Scenario {
    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) {
        synchronized (lock) {
            count(1);
            runHeld(held);
            count(-2);
        } // @leave
        count(1);
    }

    @Override
    public void want() {
        count(1);
        synchronized (lock) { // @wanted
            count(-1);
        }
    }

    private void runHeld(Held held) {
        held.run();
    }

    private void count(int by) {
        acquired += by;
    }
}

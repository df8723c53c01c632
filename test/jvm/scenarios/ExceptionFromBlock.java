package scenarios;

/**
 * An exception leaves a synchronized block, whose handler releases the lock.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.ExceptionFromBlock.fail leave
 * owner  scenarios.ExceptionFromBlock.own own
 * waiter scenarios.ExceptionFromBlock.want wanted
 * </pre>
 */
final class ExceptionFromBlock implements Scenario {
    private static final IllegalStateException FAILURE = new IllegalStateException("expected");

    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) {
        try {
            fail(held); // @own
        } catch (IllegalStateException expected) {
            acquired--;
        }
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }

    private void fail(Held held) {
        synchronized (lock) {
            held.run();
            throw FAILURE;
        } // @leave
    }
}

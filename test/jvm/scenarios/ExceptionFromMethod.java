package scenarios;

/**
 * An exception leaves a synchronized method, which releases the lock.
 *
 * <pre>
 * lock   scenarios.ExceptionFromMethod
 * owner  scenarios.ExceptionFromMethod.fail throw|enter
 * owner  scenarios.ExceptionFromMethod.own own
 * waiter scenarios.ExceptionFromMethod.want wanted
 * </pre>
 */
final class ExceptionFromMethod implements Scenario {
    private static final IllegalStateException FAILURE = new IllegalStateException("expected");

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
    public synchronized void want() {
        acquired++; // @wanted
    }

    private synchronized void fail(Held held) {
        held.run(); // @enter
        throw FAILURE; // @throw
    }
}

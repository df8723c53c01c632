package scenarios;

/**
 * An exception that another method threw leaves two synchronized methods, which
 * release their locks as they are unwound; the inner lock is the contended one.
 *
 * <pre>
 * lock   scenarios.ExceptionFromCallee$Inner
 * owner  scenarios.ExceptionFromCallee$Inner.fail call|enter
 * owner  scenarios.ExceptionFromCallee.pass inner
 * owner  scenarios.ExceptionFromCallee.own own
 * waiter scenarios.ExceptionFromCallee$Inner.acquire wanted
 * waiter scenarios.ExceptionFromCallee.want want
 * </pre>
 */
final class ExceptionFromCallee implements Scenario {
    private static final IllegalStateException FAILURE = new IllegalStateException("expected");

    private final Inner inner = new Inner();
    private int caught;

    @Override
    public void own(Held held) {
        try {
            pass(held); // @own
        } catch (IllegalStateException expected) {
            caught++;
        }
    }

    @Override
    public void want() {
        inner.acquire(); // @want
    }

    private synchronized void pass(Held held) {
        caught--;
        inner.fail(held); // @inner
    }

    private static final class Inner {
        private int acquired;

        synchronized void fail(Held held) {
            acquired++; // @enter
            held.runAndThrow(FAILURE); // @call
        }

        synchronized void acquire() {
            acquired++; // @wanted
        }
    }
}

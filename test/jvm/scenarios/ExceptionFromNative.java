package scenarios;

/**
 * A synchronized native method returns with an exception pending.
 *
 * <pre>
 * lock   scenarios.ExceptionFromNative
 * owner  scenarios.ExceptionFromNative.fail -
 * owner  scenarios.ExceptionFromNative.own own
 * waiter scenarios.ExceptionFromNative.acquire -
 * waiter scenarios.ExceptionFromNative.want want
 * </pre>
 */
final class ExceptionFromNative implements Scenario {
    static {
        Natives.load();
    }

    private int caught;

    @Override
    public void own(Held held) {
        try {
            fail(held); // @own
        } catch (IllegalStateException expected) {
            caught++;
        }
    }

    @Override
    public void want() {
        acquire(); // @want
    }

    /** Calls {@code held.run()}, and throws an {@code IllegalStateException}. */
    private synchronized native void fail(Held held);

    private synchronized native void acquire();
}

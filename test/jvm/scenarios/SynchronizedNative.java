package scenarios;

/**
 * The JVM locks the receiver of a synchronized native method.
 *
 * <pre>
 * lock   scenarios.SynchronizedNative
 * owner  scenarios.SynchronizedNative.lockAround -
 * owner  scenarios.SynchronizedNative.own own
 * waiter scenarios.SynchronizedNative.lockBriefly -
 * waiter scenarios.SynchronizedNative.want want
 * </pre>
 */
final class SynchronizedNative implements Scenario {
    static {
        Natives.load();
    }

    @Override
    public void own(Held held) {
        lockAround(held); // @own
    }

    @Override
    public void want() {
        lockBriefly(); // @want
    }

    /** Calls {@code held.run()}. */
    private synchronized native void lockAround(Held held);

    /** Does nothing. */
    private synchronized native void lockBriefly();
}

package scenarios;

/**
 * A static synchronized method locks its class.
 *
 * <pre>
 * lock   java.lang.Class
 * owner  scenarios.StaticSynchronizedMethod.lockClass leave|enter
 * owner  scenarios.StaticSynchronizedMethod.own own
 * waiter scenarios.StaticSynchronizedMethod.wantClass wanted
 * waiter scenarios.StaticSynchronizedMethod.want want
 * </pre>
 */
final class StaticSynchronizedMethod implements Scenario {
    private static int acquired;

    @Override
    public void own(Held held) {
        lockClass(held); // @own
    }

    @Override
    public void want() {
        wantClass(); // @want
    }

    private static synchronized void lockClass(Held held) {
        held.run(); // @enter
    } // @leave

    private static synchronized void wantClass() {
        acquired++; // @wanted
    }
}

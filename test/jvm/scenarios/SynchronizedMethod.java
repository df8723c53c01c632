package scenarios;

/**
 * A synchronized method locks its receiver.
 *
 * <pre>
 * lock   scenarios.SynchronizedMethod
 * owner  scenarios.SynchronizedMethod.own leave|enter
 * waiter scenarios.SynchronizedMethod.want wanted
 * </pre>
 */
final class SynchronizedMethod implements Scenario {
    private int acquired;

    @Override
    public synchronized void own(Held held) {
        held.run(); // @enter
    } // @leave

    @Override
    public synchronized void want() {
        acquired++; // @wanted
    }
}

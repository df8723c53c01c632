package scenarios;

/**
 * The owner enters its lock again while it holds it: only the outermost exit
 * lets others in and is to blame.
 *
 * <pre>
 * lock   scenarios.Reentrant
 * owner  scenarios.Reentrant.own leave|enter
 * waiter scenarios.Reentrant.again wanted
 * waiter scenarios.Reentrant.want want
 * </pre>
 */
final class Reentrant implements Scenario {
    private int acquired;

    @Override
    public synchronized void own(Held held) {
        again(); // @enter
        runHeld(held);
        again();
    } // @leave

    @Override
    public void want() {
        again(); // @want
    }

    private synchronized void runHeld(Held held) {
        held.run();
    }

    private synchronized void again() {
        acquired++; // @wanted
    }
}

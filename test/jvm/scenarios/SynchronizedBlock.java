package scenarios;

/**
 * A synchronized block locks the object that it names.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.SynchronizedBlock.own leave
 * waiter scenarios.SynchronizedBlock.want wanted
 * </pre>
 */
final class SynchronizedBlock implements Scenario {
    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) {
        synchronized (lock) {
            held.run();
        } // @leave
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }
}

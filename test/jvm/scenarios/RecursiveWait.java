package scenarios;

/**
 * The owner has entered its lock twice when it waits, which lets go of both, and
 * it has it twice again afterwards. To blame is the code that let go for good.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.RecursiveWait.own leave
 * waiter scenarios.RecursiveWait.want wanted
 * </pre>
 */
final class RecursiveWait implements Scenario {
    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) throws InterruptedException {
        synchronized (lock) {
            synchronized (lock) {
                held.run();
                held.await(lock);
            }
            acquired--;
        } // @leave
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }
}

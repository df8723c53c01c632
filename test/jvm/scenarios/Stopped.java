package scenarios;

/**
 * {@code Thread.stop} hits the owner in a loop: an exception that no instruction
 * throws takes it out of the synchronized block.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.Stopped.hold leave
 * owner  scenarios.Stopped.own own
 * waiter scenarios.Stopped.want wanted
 * </pre>
 */
final class Stopped implements Scenario {
    private final Object lock = new Object();
    private long iterations;
    private long count;

    @Override
    public void own(Held held) {
        iterations = 10;
        try {
            hold(held); // @own
        } catch (ThreadDeath expected) {
            count = 0;
        }
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            count++;
        }
    }

    /** Has the current thread stopped in a loop that never ends otherwise. */
    @Override
    @SuppressWarnings("deprecation")
    public void onBlocked() {
        Thread owner = Thread.currentThread();
        iterations = Long.MAX_VALUE;
        new Thread(() -> {
            Held.nanos(5_000_000);
            owner.stop();
        }, "stopper").start();
    }

    private void hold(Held held) {
        synchronized (lock) {
            held.run();
            for (long i = 0; i < iterations; i++) {
                count++;
            }
        } // @leave
    }
}

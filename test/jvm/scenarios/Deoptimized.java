package scenarios;

/**
 * The compiled code that holds the lock is thrown away while it does: it was
 * compiled for the one class {@link Shape}, and the owner loads a subclass in
 * the first round. The method that locks is inlined, so the one compiled frame
 * becomes two interpreted ones, the inner of which releases the lock.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.Deoptimized.hold leave
 * owner  scenarios.Deoptimized.own own
 * waiter scenarios.Deoptimized.want wanted
 * </pre>
 */
final class Deoptimized implements Scenario {
    private final Object lock = new Object();
    private Shape shape = new Shape();

    @Override
    public void own(Held held) {
        hold(held); // @own
    }

    @Override
    public void want() {
        synchronized (lock) { // @wanted
            shape.turn();
        }
    }

    /** Loads the subclass; a mere {@code new Triangle()} would have the verifier load it before. */
    @Override
    public void onBlocked() {
        shape = Triangle.create();
    }

    private void hold(Held held) {
        synchronized (lock) {
            held.run();
            shape.turn();
        } // @leave
    }

    private static class Shape {
        int turns;

        void turn() {
            turns++;
        }
    }

    private static final class Triangle extends Shape {
        static Shape create() {
            return new Triangle();
        }

        @Override
        void turn() {
            turns--;
        }
    }
}

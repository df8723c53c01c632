package scenarios;

/** The class that {@link Redefinition} redefines; {@code redefined/} has the other version. */
final class Redefined {
    private int acquired;

    synchronized void hold(Held held) {
        held.run(); // @enter
    } // @leave

    synchronized void pass() {
        acquired++; // @wanted
    }
}

package scenarios;

/** The class that {@link Redefinition} redefines, at other lines and with other code. */
final class Redefined {
    private int acquired;

    synchronized void pass() {
        acquired += 2; // @wanted
        acquired--;
    }

    synchronized void hold(Held held) {
        acquired--; // @enter
        held.run();
        acquired++;
    } // @leave
}

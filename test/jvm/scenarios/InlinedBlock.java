package scenarios;

/**
 * The synchronized block sits in a method that the compilers inline into its
 * callers, four levels deep: every level must show, with its own line.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.InlinedBlock.own4 leave
 * owner  scenarios.InlinedBlock.own3 own4
 * owner  scenarios.InlinedBlock.own2 own3
 * owner  scenarios.InlinedBlock.own1 own2
 * owner  scenarios.InlinedBlock.own own1
 * waiter scenarios.InlinedBlock.want3 wanted
 * waiter scenarios.InlinedBlock.want2 want3
 * waiter scenarios.InlinedBlock.want1 want2
 * waiter scenarios.InlinedBlock.want want1
 * </pre>
 */
final class InlinedBlock implements Scenario {
    private final Object lock = new Object();
    private int acquired;

    @Override
    public void own(Held held) {
        acquired--;
        own1(held); // @own1
    }

    private void own1(Held held) {
        own2(held); // @own2
        acquired--;
    }

    private void own2(Held held) {
        acquired++;
        own3(held); // @own3
    }

    private void own3(Held held) {
        own4(held); // @own4
        acquired++;
    }

    private void own4(Held held) {
        synchronized (lock) {
            held.run();
        } // @leave
    }

    @Override
    public void want() {
        want1(); // @want1
    }

    private void want1() {
        acquired--;
        want2(); // @want2
    }

    private void want2() {
        want3(); // @want3
        acquired++;
    }

    private void want3() {
        synchronized (lock) { // @wanted
            acquired++;
        }
    }
}

package scenarios;

/**
 * A synchronized method is inlined into a method that is inlined itself.
 *
 * <pre>
 * lock   scenarios.InlinedMethod
 * owner  scenarios.InlinedMethod.own2 leave|enter
 * owner  scenarios.InlinedMethod.own1 own2
 * owner  scenarios.InlinedMethod.own own1
 * waiter scenarios.InlinedMethod.want2 wanted
 * waiter scenarios.InlinedMethod.want1 want2
 * waiter scenarios.InlinedMethod.want want1
 * </pre>
 */
final class InlinedMethod implements Scenario {
    private int acquired;

    @Override
    public void own(Held held) {
        own1(held); // @own1
        acquired--;
    }

    private void own1(Held held) {
        acquired--;
        own2(held); // @own2
    }

    private synchronized void own2(Held held) {
        held.run(); // @enter
        acquired++;
    } // @leave

    @Override
    public void want() {
        acquired--;
        want1(); // @want1
    }

    private void want1() {
        want2(); // @want2
        acquired++;
    }

    private synchronized void want2() {
        acquired++; // @wanted
    }
}

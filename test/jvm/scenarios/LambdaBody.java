package scenarios;

import java.util.function.Consumer;

/**
 * The synchronized block is the body of a lambda expression. The class that
 * stands for the lambda is hidden, as in every stack trace.
 *
 * <pre>
 * lock   java.lang.Object
 * owner  scenarios.LambdaBody.lambda$new$0 leave
 * owner  scenarios.LambdaBody.own own
 * waiter scenarios.LambdaBody.lambda$new$1 wanted
 * waiter scenarios.LambdaBody.want want
 * </pre>
 */
final class LambdaBody implements Scenario {
    private final Object lock = new Object();
    private int acquired;

    private final Consumer<Held> hold = held -> {
        synchronized (lock) {
            held.run();
        } // @leave
    };

    private final Runnable acquire = () -> {
        synchronized (lock) { // @wanted
            acquired++;
        }
    };

    @Override
    public void own(Held held) {
        hold.accept(held); // @own
    }

    @Override
    public void want() {
        acquire.run(); // @want
    }
}

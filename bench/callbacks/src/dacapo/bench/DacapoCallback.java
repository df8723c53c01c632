package bench;

import org.dacapo.harness.Callback;
import org.dacapo.harness.CommandLineArgs;

/**
 * Reports the iterations of DaCapo's harness, which the Scala suite shares.
 *
 * <p>The first release of DaCapo 9.12 calls {@code stop()} and all later ones
 * {@code stop(long)}. There are both here, so that the class compiles against
 * either; hence no {@code @Override} and no call of the method replaced, which
 * only notes the time for a message.
 */
public final class DacapoCallback extends Callback {
    private final Iterations iterations = new Iterations();

    public DacapoCallback(CommandLineArgs arguments) {
        super(arguments);
    }

    @Override
    public void start(String benchmark) {
        super.start(benchmark);
        iterations.begin();
    }

    public void stop() {
        iterations.stop();
    }

    public void stop(long durationMillis) {
        iterations.stop();
    }

    @Override
    public void complete(String benchmark, boolean valid) {
        super.complete(benchmark, valid);
        if (valid) {
            iterations.passed();
        } else {
            iterations.failed(benchmark + ": wrong result");
        }
    }
}

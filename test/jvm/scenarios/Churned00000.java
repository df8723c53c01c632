package scenarios;

import java.util.function.Consumer;

/** The class that {@link LoaderChurn} loads again and again, each time with other names. */
public final class Churned00000 implements Consumer<Runnable> {
    @Override
    public void accept(Runnable held) {
        lock00000(held);
    }

    private synchronized void lock00000(Runnable held) {
        held.run();
    }
}

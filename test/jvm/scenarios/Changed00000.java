package scenarios;

import java.util.function.Consumer;

/** Another version of {@link Churned00000}, under that name. */
public final class Changed00000 implements Consumer<Runnable> {
    @Override
    public void accept(Runnable held) {
        if (held != null) {
            lock00000(held);
        }
    }

    private synchronized void lock00000(Runnable held) {
        if (held != null) {
            held.run();
        }
    }
}

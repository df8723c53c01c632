package scenarios;

import java.util.function.Consumer;

/** The class that {@link Unloading} loads again and again; refers to no other of its package. */
public final class Plugin implements Consumer<Runnable> {
    @Override
    public synchronized void accept(Runnable held) {
        held.run(); // @enter
    } // @leave
}

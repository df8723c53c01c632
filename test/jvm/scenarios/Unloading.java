package scenarios;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Threads block each other on objects whose classes are unloaded afterwards,
 * one {@link Plugin} class of its own loader in each round.
 *
 * <p>The trace must show one wait a round on the lock of a
 * {@code scenarios.Plugin} that {@code Plugin.accept} held.
 *
 * <p>Prints {@code unloaded COUNT}: how many of the loaders are gone.
 */
public final class Unloading {
    private static final int ROUNDS = 30;

    private Unloading() {}

    public static void main(String[] args) throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            loaders.add(new WeakReference<>(blockOnce()));
            System.gc();
        }
        long unloaded = loaders.stream().filter(loader -> loader.get() == null).count();
        System.out.println("unloaded " + unloaded);
    }

    /** Loads a class, blocks a thread on an instance of it, and returns its loader. */
    static ClassLoader blockOnce() throws Exception {
        URL classes = Unloading.class.getProtectionDomain().getCodeSource().getLocation();
        ClassLoader loader = new URLClassLoader(new URL[] {classes}, null);
        @SuppressWarnings("unchecked")
        Consumer<Runnable> plugin = (Consumer<Runnable>) loader.loadClass("scenarios.Plugin").newInstance();
        Contend.block(new Scenario() {
            @Override
            public void own(Held held) {
                plugin.accept(held);
            }

            @Override
            public void want() {
                plugin.accept(Held.NOT_AT_ALL);
            }
        });
        return loader;
    }
}

package scenarios;

import java.net.URL;
import java.net.URLClassLoader;

/**
 * Defines the scenarios' classes anew, and runs a {@link Held} when it is asked
 * for one of them. Parallel capable, so that the JVM does not lock it.
 */
final class PausingLoader extends URLClassLoader {
    static {
        registerAsParallelCapable();
    }

    private final String pauseAt;
    private final Held held;

    PausingLoader(String pauseAt, Held held) {
        super(new URL[] {PausingLoader.class.getProtectionDomain().getCodeSource().getLocation()}, null);
        this.pauseAt = pauseAt;
        this.held = held;
    }

    @Override
    public Class<?> loadClass(String name) throws ClassNotFoundException {
        if (name.equals(pauseAt)) {
            held.run();
        }
        return super.loadClass(name);
    }
}

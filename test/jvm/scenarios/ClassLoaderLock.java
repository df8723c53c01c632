package scenarios;

/**
 * The JVM locks a class loader that is not registered as parallel capable
 * before it asks it for a class. The owner's class takes its time to load, and
 * the waiter wants another class of the same loader.
 *
 * <pre>
 * lock   scenarios.ClassLoaderLock$SerialLoader
 * owner  java.lang.Class.forName0 -
 * owner  java.lang.Class.forName -
 * owner  scenarios.ClassLoaderLock.own own
 * waiter java.lang.Class.forName0 -
 * waiter java.lang.Class.forName -
 * waiter scenarios.ClassLoaderLock.want want
 * </pre>
 */
final class ClassLoaderLock implements Scenario {
    private SerialLoader loader;

    @Override
    public void own(Held held) throws ClassNotFoundException {
        loader = new SerialLoader(held);
        Class.forName("scenarios.Linked", false, loader); // @own
    }

    @Override
    public void want() throws ClassNotFoundException {
        Class.forName("scenarios.Plugin", false, loader); // @want
    }

    /** A class is loaded once. */
    @Override
    public int warmUp() {
        return 0;
    }

    private static final class SerialLoader extends ClassLoader {
        private final Held held;

        SerialLoader(Held held) {
            this.held = held;
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            if (name.equals("scenarios.Linked")) {
                held.run();
            }
            return super.loadClass(name);
        }
    }
}

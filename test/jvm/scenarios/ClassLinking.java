package scenarios;

/**
 * The JVM itself locks: while it links a class, it holds that class's
 * initialization lock, an {@code int[0]} that no program sees. The owner links
 * {@link Linked}, and its class loader takes the time in which the JVM wants to
 * know from it whether {@code Linked.Derived} is a {@code Linked.Base}. The
 * waiter needs the class linked, too.
 *
 * <p>Both ask for the fields of the class: that links it and does not initialize
 * it, which would take the same lock again.
 *
 * <pre>
 * lock   [I
 * owner  java.lang.Class.getDeclaredFields0 -
 * owner  java.lang.Class.privateGetDeclaredFields -
 * owner  java.lang.Class.getDeclaredFields -
 * owner  scenarios.ClassLinking.own own
 * waiter java.lang.Class.getDeclaredFields0 -
 * waiter java.lang.Class.privateGetDeclaredFields -
 * waiter java.lang.Class.getDeclaredFields -
 * waiter scenarios.ClassLinking.want want
 * </pre>
 */
final class ClassLinking implements Scenario {
    private Class<?> linked;

    @Override
    public void own(Held held) throws ClassNotFoundException {
        ClassLoader loader = new PausingLoader("scenarios.Linked$Base", held);
        linked = Class.forName("scenarios.Linked", false, loader);
        linked.getDeclaredFields(); // @own
    }

    @Override
    public void want() {
        linked.getDeclaredFields(); // @want
    }

    /** A class is linked once. */
    @Override
    public int warmUp() {
        return 0;
    }
}

package scenarios;

/**
 * The JVM itself locks: while it links a class, it holds that class's
 * initialization lock, an {@code int[0]} that no program sees. The owner links
 * {@link Linked}, and its class loader takes the time in which the JVM wants to
 * know from it whether {@code Linked.Derived} is a {@code Linked.Base}. The
 * waiter wants the class initialized, too.
 *
 * <pre>
 * lock   [I
 * owner  java.lang.Class.forName0 -
 * owner  java.lang.Class.forName -
 * owner  scenarios.ClassLinking.own own
 * waiter java.lang.Class.forName0 -
 * waiter java.lang.Class.forName -
 * waiter scenarios.ClassLinking.want want
 * </pre>
 */
final class ClassLinking implements Scenario {
    private PausingLoader loader;

    @Override
    public void own(Held held) throws ClassNotFoundException {
        loader = new PausingLoader("scenarios.Linked$Base", held);
        Class.forName("scenarios.Linked", true, loader); // @own
    }

    @Override
    public void want() throws ClassNotFoundException {
        Class.forName("scenarios.Linked", true, loader); // @want
    }

    /** A class is linked once. */
    @Override
    public int warmUp() {
        return 0;
    }
}

/** The name of DaCapo's main class. */
public final class Harness {
    private Harness() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        suite.Dacapo.main(arguments);
    }
}

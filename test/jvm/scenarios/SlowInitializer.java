package scenarios;

/** A class whose static initializer takes long; see {@link ClassInitialization}. */
final class SlowInitializer {
    static {
        ClassInitialization.initialize(SlowInitializer.class);
    }

    private SlowInitializer() {}
}

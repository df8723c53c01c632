package scenarios;

/** Loads the library built from {@code native/}. */
final class Natives {
    static {
        System.load(System.getProperty("scenarios.natives"));
    }

    private Natives() {}

    /** Makes sure that the library is loaded. */
    static void load() {}

    /** Runs a shell command as C's {@code system} does: the child inherits whatever is not close-on-exec. */
    static native int system(String command);

    /** Lets others run for a moment; unlike a park or a wait, nothing that a trace shows. */
    static native void pause();

    /** Creates an object as native code does. */
    static native <T> T newInstance(Class<T> type);
}

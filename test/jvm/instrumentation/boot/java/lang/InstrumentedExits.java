package java.lang;

/** The hooks that instrumented classes call: they count, and check what they can. */
public final class InstrumentedExits {
    /** Calls of each hook, by all threads; not exact if they race. */
    public static volatile long blockExits;
    public static volatile long afterBlockExits;
    public static volatile long methodExits;

    /**
     * Set by programs. Before, a JVM may have to run instrumented code to find native methods, such
     * as those that the checks call.
     */
    public static volatile boolean isStarted;

    /** Calls since then with a monitor that the thread did not own. */
    public static volatile long wrongExits;

    /** The thread whose calls are noted. */
    public static volatile Thread noted;

    /** The object of each call that was noted; null of one after a release. */
    public static final Object[] OBJECTS = new Object[10_000];

    /** Its site. */
    public static final int[] SITES = new int[OBJECTS.length];

    /** The number of calls noted. */
    public static int count;

    /** Thrown by each call before a release that would be noted. */
    public static volatile Error failure;

    private InstrumentedExits() {}

    public static void blockExit(Object monitor, int site) {
        blockExits++;
        exit(monitor, site);
    }

    public static void methodExit(Object monitor, int site) {
        methodExits++;
        exit(monitor, site);
    }

    public static void afterBlockExit(int site) {
        afterBlockExits++;
        if (isStarted && noted == Thread.currentThread()) {
            note(null, site);
        }
    }

    private static void exit(Object monitor, int site) {
        if (!isStarted) {
            return;
        }
        if (!Thread.holdsLock(monitor)) {
            wrongExits++;
        }
        if (noted != Thread.currentThread()) {
            return;
        }
        note(monitor, site);
        if (failure != null) {
            throw failure;
        }
    }

    private static void note(Object monitor, int site) {
        OBJECTS[count] = monitor;
        SITES[count] = site;
        count++;
    }
}

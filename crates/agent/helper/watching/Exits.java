package java.locktrace;

/** What becomes of the class of that name once threads wait for monitors. */
public final class Exits {
    private Exits() {}

    /**
     * Called by the owner of a monitor.
     *
     * @param monitor the object
     * @param site where in the program this is
     */
    public static void exit(Object monitor, int site) {
        if (Monitors.slotsInUse != 0) {
            Monitors.find(monitor, site);
        }
    }
}

package java.locktrace;

/** Replaces the class of this name once threads wait for monitors. */
public final class Exits {
    private Exits() {}

    /**
     * Called by the owner of a monitor.
     *
     * @param monitor the object
     * @param site the number of the place in the program
     */
    public static void exit(Object monitor, int site) {
        if (Monitors.slotsInUse != 0) {
            Monitors.find(monitor, site);
        }
    }
}

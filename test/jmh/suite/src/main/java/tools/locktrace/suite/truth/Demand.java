package tools.locktrace.suite.truth;

/**
 * The part of a lock that a thread wants. A lock has a number of units; a thread that does not find
 * enough of them free waits until others release theirs.
 */
public final class Demand {
    /** All that nobody else may have meanwhile. */
    public static final Demand WHOLE = new Demand(1, 1);

    /** More than there are readers. */
    private static final int READERS = 1 << 16;

    /** A lock for reading: others may read, too. */
    public static final Demand READ = new Demand(1, READERS);

    /** The same lock for writing: it needs what all readers have. */
    public static final Demand WRITE = new Demand(READERS, READERS);

    final int units;
    final int of;

    private Demand(int units, int of) {
        this.units = units;
        this.of = of;
    }

    /** One of some permits. */
    public static Demand permitOf(int permits) {
        return new Demand(1, permits);
    }
}

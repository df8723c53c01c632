package tools.locktrace.suite.truth;

import java.util.Collection;

/** How late threads wake up on this machine, as the naps show. */
final class Lateness {
    /** For locks whose waiters need not wake up to be known. */
    static final Lateness NONE = new Lateness(0, Double.MAX_VALUE);

    private final double usualNanos;
    private final double meanNapNanos;

    private Lateness(double usualNanos, double meanNapNanos) {
        this.usualNanos = usualNanos;
        this.meanNapNanos = meanNapNanos;
    }

    static Lateness of(Collection<Holding> holdings) {
        double naps = 0;
        double nanos = 0;
        double fastestNanos = Double.MAX_VALUE;
        for (Holding holding : holdings) {
            if (holding.naps > 0) {
                naps += holding.naps;
                nanos += holding.heldNanos();
                fastestNanos = Math.min(fastestNanos, (double) holding.heldNanos() / holding.naps);
            }
        }
        return naps == 0 ? NONE : new Lateness(nanos / naps - fastestNanos, nanos / naps);
    }

    /**
     * How late a thread may be awake that was woken before a lock was held: as late
     * as from a nap, and by as much more as the holder was late itself.
     */
    long during(Holding holding) {
        return (long) (usualNanos + Math.max(0, holding.heldNanos() - holding.naps * meanNapNanos));
    }
}

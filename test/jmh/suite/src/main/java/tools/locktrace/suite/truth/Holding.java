package tools.locktrace.suite.truth;

import java.util.List;

/** A {@link Turn} that is over, as the checker reads it. */
public final class Holding {
    /** The name of the thread. */
    public final String thread;
    /** The key of the lock. */
    public final String lock;
    /** The time that the lock was held by design. */
    public final int naps;
    /** The times when the thread wanted the lock, acquired it and released it. */
    public final long wantedNanos;
    public final long acquiredNanos;
    public final long releasedNanos;
    /** The call chains of the thread when it wanted the lock and when it released it. */
    public final String blockedChain;
    public final String ownerChain;
    /** The number of the lock's units that were held, and of all. */
    final int units;
    final int lockUnits;

    Holding(String[] fields, List<String> chains) {
        thread = fields[1];
        lock = fields[2];
        naps = Integer.parseInt(fields[3]);
        wantedNanos = Long.parseLong(fields[4]);
        acquiredNanos = Long.parseLong(fields[5]);
        releasedNanos = Long.parseLong(fields[6]);
        blockedChain = chains.get(Integer.parseInt(fields[7]));
        ownerChain = chains.get(Integer.parseInt(fields[8]));
        units = Integer.parseInt(fields[9]);
        lockUnits = Integer.parseInt(fields[10]);
    }

    /** Returns how long the thread waited for the lock. */
    public long waitedNanos() {
        return acquiredNanos - wantedNanos;
    }

    /** Returns how long it held the lock. */
    public long heldNanos() {
        return releasedNanos - acquiredNanos;
    }
}

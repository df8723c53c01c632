package tools.locktrace.jmx;

import java.beans.ConstructorProperties;

/** The time that threads were blocked by one method that held locks of one class. */
public final class Contention {
    private final String lockClass;
    private final String ownerMethod;
    private final long blockedNanos;
    private final long waits;
    private final long longestWaitNanos;

    @ConstructorProperties({"lockClass", "ownerMethod", "blockedNanos", "waits", "longestWaitNanos"})
    public Contention(
            String lockClass, String ownerMethod, long blockedNanos, long waits, long longestWaitNanos) {
        this.lockClass = lockClass;
        this.ownerMethod = ownerMethod;
        this.blockedNanos = blockedNanos;
        this.waits = waits;
        this.longestWaitNanos = longestWaitNanos;
    }

    public String getLockClass() {
        return lockClass;
    }

    /** {@code <lock was free>} and others where no method held it. */
    public String getOwnerMethod() {
        return ownerMethod;
    }

    public long getBlockedNanos() {
        return blockedNanos;
    }

    /** Returns the number of waits that had a part in it. */
    public long getWaits() {
        return waits;
    }

    /** The longest part that one wait had in it. */
    public long getLongestWaitNanos() {
        return longestWaitNanos;
    }
}

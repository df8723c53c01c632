package bench;

import java.util.concurrent.locks.LockSupport;

/**
 * Marks the start and the end of an iteration in the trace: as a park on an object
 * whose class occurs nowhere else. A JVM without tracing only loses the time of a
 * very short park.
 */
public final class Mark {
    private Mark() {}

    /** Marks the begin of the iteration in the trace. */
    public static void begin() {
        park(IterationBegin.BLOCKER);
    }

    /** Marks the end of the iteration in the trace. */
    public static void end() {
        park(IterationEnd.BLOCKER);
    }

    private static void park(Object blocker) {
        // A permit that is left over would let the park return at once, which is
        // no event: the first park takes it.
        LockSupport.parkNanos(1);
        LockSupport.parkNanos(blocker, 1);
    }
}

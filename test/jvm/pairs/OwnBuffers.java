package pairs;

import java.util.Random;

/** Threads format into one buffer under its lock, and then log it; or each has a buffer of its own. */
public final class OwnBuffers extends Program {
    private final boolean hasOwn;
    private final Buffer buffer = new Buffer();
    private final Log log = new Log();

    public OwnBuffers(boolean isAfter) {
        super(6, 250);
        hasOwn = isAfter;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 2_000);
        if (hasOwn) {
            format(random);
        } else {
            synchronized (buffer) {
                format(random);
            }
        }
        synchronized (log) {
            Work.pause(random, 300);
        }
    }

    private static void format(Random random) {
        Work.pause(random, 1_800);
    }

    private static final class Buffer {}

    private static final class Log {}
}

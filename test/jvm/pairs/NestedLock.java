package pairs;

import java.util.Random;

/**
 * Orders are booked under a lock, and written to a journal under another one inside of it, which others
 * write to as well. Or writing is short.
 */
public final class NestedLock extends Program {
    private static final int BOOKING_THREADS = 6;

    private final int writeMicros;
    private final Orders orders = new Orders();
    private final Journal journal = new Journal();

    public NestedLock(boolean isAfter) {
        super(8, 150);
        writeMicros = isAfter ? 400 : 2_000;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        if (thread < BOOKING_THREADS) {
            Work.pause(random, 1_000);
            synchronized (orders) {
                Work.pause(random, 500);
                write(random);
            }
        } else {
            Work.pause(random, 12_000);
            write(random);
        }
    }

    private void write(Random random) {
        synchronized (journal) {
            Work.pause(random, writeMicros);
        }
    }

    private static final class Orders {}

    private static final class Journal {}
}

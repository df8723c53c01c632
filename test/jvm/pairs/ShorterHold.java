package pairs;

import java.util.Random;

/** Counting under a lock what only half of needs it; the other half is left out. */
public final class ShorterHold extends Program {
    private final int heldMicros;
    private final Count count = new Count();

    public ShorterHold(boolean isAfter) {
        super(6, 160);
        heldMicros = isAfter ? 1_500 : 3_000;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 9_000);
        synchronized (count) {
            Work.pause(random, heldMicros);
        }
    }

    private static final class Count {}
}

package pairs;

import java.util.Random;

/** Statements are formatted and booked under the lock of the ledger; or formatted before they are booked. */
public final class FormatOutside extends Program {
    private final boolean isOutside;
    private final Ledger ledger = new Ledger();

    public FormatOutside(boolean isAfter) {
        super(8, 100);
        isOutside = isAfter;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 1_000);
        if (isOutside) {
            format(random);
        }
        synchronized (ledger) {
            if (!isOutside) {
                format(random);
            }
            Work.pause(random, 1_000);
        }
    }

    private static void format(Random random) {
        Work.pause(random, 3_000);
    }

    private static final class Ledger {}
}

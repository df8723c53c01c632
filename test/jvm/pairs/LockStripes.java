package pairs;

import java.util.Random;

/** Bookings on accounts under one lock for all of them; or under one of four, by the account's number. */
public final class LockStripes extends Program {
    private static final int ACCOUNTS = 1_000;

    private final Stripe[] stripes;

    public LockStripes(boolean isAfter) {
        super(8, 180);
        stripes = new Stripe[isAfter ? 4 : 1];
        for (int stripe = 0; stripe < stripes.length; stripe++) {
            stripes[stripe] = new Stripe();
        }
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 2_000);
        synchronized (stripes[random.nextInt(ACCOUNTS) % stripes.length]) {
            Work.pause(random, 2_000);
        }
    }

    private static final class Stripe {}
}

package pairs;

import java.util.Random;

/** A cart under one lock, and a payment under the next one: with the first held half as long, threads meet at the second. */
public final class NextLock extends Program {
    private final int cartMicros;
    private final Cart cart = new Cart();
    private final Payment payment = new Payment();

    public NextLock(boolean isAfter) {
        super(6, 350);
        cartMicros = isAfter ? 600 : 1_200;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 200);
        synchronized (cart) {
            Work.pause(random, cartMicros);
        }
        synchronized (payment) {
            Work.pause(random, 1_000);
        }
    }

    private static final class Cart {}

    private static final class Payment {}
}

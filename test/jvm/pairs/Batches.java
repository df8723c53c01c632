package pairs;

import java.util.Random;

/** Each item is written by itself, which costs most of the time; or five at a time. */
public final class Batches extends Program {
    private final int itemsAtOnce;
    private final Store store = new Store();

    public Batches(boolean isAfter) {
        super(8, 90);
        itemsAtOnce = isAfter ? 5 : 1;
    }

    @Override
    protected void turn(Random random, int thread, int turn) {
        Work.pause(random, 2_000);
        if ((turn + 1) % itemsAtOnce == 0) {
            synchronized (store) {
                Work.pause(random, 4_000 + 200 * itemsAtOnce);
            }
        }
    }

    private static final class Store {}
}

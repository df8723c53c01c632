package pairs;

import java.util.Random;
import java.util.concurrent.Semaphore;

/** Clients borrow one of two connections; or one of eight. */
public final class LargerPool extends Program {
    private final Semaphore connections;

    public LargerPool(boolean isAfter) {
        super(8, 200);
        connections = new Semaphore(isAfter ? 8 : 2);
    }

    @Override
    protected void turn(Random random, int thread, int turn) throws InterruptedException {
        Work.pause(random, 2_000);
        connections.acquire();
        try {
            Work.pause(random, 4_000);
        } finally {
            connections.release();
        }
    }
}
